package stacks_test

import (
	"context"
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// madeObjects builds made.c in the two forms in which run-time compilers have it in memory:
// relocatable with a section for each function, and linked to an address.
func madeObjects(t *testing.T, flags ...string) (relocatable, linked string) {
	t.Helper()
	flags = append([]string{"-O2", "-fomit-frame-pointer", "-fcf-protection=none"}, flags...)
	relocatable = gdbtest.Build(t, "made.c", append(flags, "-c", "-ffunction-sections")...)
	linked = gdbtest.Build(t, "made.c", append(flags, "-nostdlib", "-static", "-no-pie", "-Wl,-e,first", "-Wl,-Ttext-segment=0x7000000000")...)
	return relocatable, linked
}

// TestRegistered compares stacks through registered code with gdb's, which reads the same list: in
// a process, in a core and in a snapshot.
func TestRegistered(t *testing.T) {
	for _, tt := range []struct {
		name       string
		host, code []string // flags
		args       []string
		core       bool // take a core, too, besides the snapshot
	}{
		{"registered twice", gdbtest.Plain, []string{"-g"}, []string{"-u"}, true},
		{"a memfd, debug_frame of DWARF 4", gdbtest.Plain, []string{"-g", "-gdwarf-4", "-fno-asynchronous-unwind-tables"}, []string{"-m"}, false},
		{"names and SFrame alone, the list's exported", []string{"-O2", "-rdynamic", "-s"}, []string{"-Wa,--gsframe"}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			relocatable, linked := madeObjects(t, tt.code...)
			textrel := gdbtest.Build(t, "textrel.c", "-c")
			// The same object, registered twice, has two places.
			p := gdbtest.Start(t, gdbtest.Build(t, "registers.c", tt.host...), append(tt.args, relocatable, textrel, linked, relocatable)...)
			flags := &report.Flags{Explain: true, Registers: true}
			want, snapshot := saved(t, p.PID, flags)
			bySFrame := 0
			if slices.Contains(tt.code, "-Wa,--gsframe") {
				bySFrame = 9 // textrel.c has no SFrame section
			}
			if dwarf, sframe := inObjects(want, "dwarf"), inObjects(want, "sframe"); dwarf != 10-bySFrame || sframe != bySFrame {
				t.Errorf("%d frames in registered objects by DWARF, %d by SFrame, want %d, %d", dwarf, sframe, 10-bySFrame, bySFrame)
			}
			commandtest.CompareAll(t, want, gdbtest.Backtrace(t, p.PID))
			path := filepath.Join(t.TempDir(), "core")
			if tt.core {
				commandtest.GCore(t, p.PID, path)
			}
			end(t, p)
			got, warnings := reopened(t, snapshot, core.Options{}, flags)
			equalAll(t, got, want)
			if len(warnings) > 0 {
				t.Errorf("warnings %q", warnings)
			}
			if tt.core {
				equalThreads(t, asCore(t, path, core.Options{}, flags), want)
				commandtest.CompareAll(t, got, gdbtest.BacktraceCore(t, p.PID, want.Exe, snapshot))
			}
		})
	}
}

// TestRegisteredMeanwhile attaches to a process that changes its list all the time. A stack
// through an object that stays is whole, or a warning says why it is not.
func TestRegisteredMeanwhile(t *testing.T) {
	relocatable, linked := madeObjects(t, "-g")
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "registers.c", gdbtest.Plain...), relocatable, linked, "-r")
	cut, warned := 0, 0
	for range 20 {
		s, err := targets.Process(context.Background(), p.PID, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		doc, warnings, err := report.Collect(s, &report.Flags{})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(warnings) > 0 {
			warned++
		}
		if th := &doc.Threads[0]; !th.Whole || inObjects(doc, "dwarf") != 6 {
			if cut++; len(warnings) == 0 {
				t.Errorf("%d frames in registered objects, want 6, and no warning%s", inObjects(doc, "dwarf"), listed(th))
			}
		}
	}
	t.Logf("of 20 stacks %d are cut; %d warnings", cut, warned)
	if cut > 10 {
		t.Errorf("of 20 stacks %d are cut", cut)
	}
}

// inObjects counts the physical frames in registered objects that the sniffer unwinds.
func inObjects(doc *report.Document, sniffer string) (n int) {
	for _, f := range doc.Threads[0].Frames {
		if strings.HasPrefix(f.Module, "[jit ") && !f.Guess && f.Sniffer == sniffer && slices.Contains([]string{"first", "second", "third"}, f.Function) {
			n++
		}
	}
	return n
}

// TestEmulator finds the stacks of qemu's threads whole; they run code that qemu has made nearly
// all the time. The test compares them with gdb's if gdb can find qemu's registered list: a qemu
// that is linked statically and stripped has no symbol for it. In both cases the test lets qemu go
// on to where the made code returns.
func TestEmulator(t *testing.T) {
	gdbtest.NeedAMD64(t)
	qemu := gdbtest.Tool(t, "qemu-aarch64")
	p := gdbtest.StartRunning(t, qemu, guesttest.ARM64.Build(t, "spin.c", "-O2", "-static"))
	registered := hasSymbol(t, qemu, "__jit_debug_descriptor")
	inMade := func(f *report.Frame) bool {
		if registered {
			return strings.HasPrefix(f.Module, "[jit ")
		}
		return f.Module == ""
	}
	made := 0
	for range 8 {
		for _, th := range commandtest.Take(t, p.PID, &report.Flags{}).Threads {
			if !th.Whole {
				t.Errorf("thread %d: %s (%s) after %d frames", th.TID, th.Stop, th.Error, len(th.Frames))
			}
			if inMade(&th.Frames[0]) {
				made++
			}
		}
	}
	if made < 4 {
		t.Errorf("%d of 8 stacks begin in code that qemu has made", made)
	}
	for range 10 { // it may stop elsewhere
		p.Stop(t)
		got := commandtest.Take(t, p.PID, &report.Flags{Explain: true, Registers: true})
		th := &got.Threads[0]
		if !inMade(&th.Frames[0]) || len(th.Frames) < 2 {
			p.Continue(t)
			continue
		}
		if registered {
			commandtest.CompareAll(t, got, gdbtest.Backtrace(t, p.PID))
		}
		returned(t, p.PID, th)
		return
	}
	t.Error("qemu was not stopped in code that it has made")
}

// returned lets a thread return from its frame 0, and compares the other frames with gdb's there.
func returned(t *testing.T, pid int, th *report.Thread) {
	t.Helper()
	caller := th.Frames[1]
	want := gdbtest.Returned(t, pid, "SIGUSR1", caller.PC.V, th.Frames[0].CFA.V)
	th.Frames = th.Frames[1:]
	if why := commandtest.Differs(th, want); why != "" {
		t.Errorf("thread %d where it has returned to: %s\n%s", want.TID, why, commandtest.SideBySide(th, want))
	}
	kept := 0
	for _, r := range caller.Registers {
		// A call preserves these (System V ABI, AMD64 supplement, 3.2.1).
		n, is := map[string]int{"rbx": 3, "rbp": 6, "r12": 12, "r13": 13, "r14": 14, "r15": 15}[r.Name]
		if !is {
			continue
		}
		kept++
		if v := fmt.Sprintf("%#x", want.Frames[0].Registers[n]); r.Value != v {
			t.Errorf("the caller's %s is %s, it was %s when the code had returned", r.Name, r.Value, v)
		}
	}
	if kept != 6 {
		t.Errorf("%d of the caller's registers, want 6: %v", kept, caller.Registers)
	}
}

// hasSymbol reports whether a file has a symbol.
func hasSymbol(t *testing.T, path, name string) bool {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	static, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	return slices.ContainsFunc(append(static, dynamic...), func(s elf.Symbol) bool { return s.Name == name })
}
