package command

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/guesttest"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
)

// madeObjects are made.c as compilers at run time have it in memory: relocatable, with a
// section for each function, and linked to an address.
func madeObjects(t *testing.T, flags ...string) (relocatable, linked string) {
	t.Helper()
	flags = append([]string{"-O2", "-fomit-frame-pointer", "-fcf-protection=none"}, flags...)
	relocatable = gdbtest.Build(t, "made.c", append(flags, "-c", "-ffunction-sections")...)
	linked = gdbtest.Build(t, "made.c", append(flags, "-nostdlib", "-static", "-no-pie", "-Wl,-e,first", "-Wl,-Ttext-segment=0x7000000000")...)
	return relocatable, linked
}

// TestRegistered holds stacks through code that a process has registered against gdb's,
// which reads the same list: of the process, of a core, and of a snapshot.
func TestRegistered(t *testing.T) {
	for _, tt := range []struct {
		name       string
		host, code []string // flags
		args       []string
		core       bool // and a core, beside the snapshot
	}{
		{"registered twice", gdbtest.Plain, []string{"-g"}, []string{"-u"}, true},
		{"a memfd, debug_frame of DWARF 4", gdbtest.Plain, []string{"-g", "-gdwarf-4", "-fno-asynchronous-unwind-tables"}, []string{"-m"}, false},
		{"names and SFrame alone, the list's exported", []string{"-O2", "-rdynamic", "-s"}, []string{"-Wa,--gsframe"}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			relocatable, linked := madeObjects(t, tt.code...)
			textrel := gdbtest.Build(t, "textrel.c", "-c")
			// The same object twice has two places.
			p := gdbtest.Start(t, gdbtest.Build(t, "registers.c", tt.host...), append(tt.args, relocatable, textrel, linked, relocatable)...)
			flags := &walkFlags{explain: true, registers: true}
			want, snapshot := saved(t, p.PID, flags)
			bySFrame := 0
			if slices.Contains(tt.code, "-Wa,--gsframe") {
				bySFrame = 9 // textrel.c has none
			}
			if dwarf, sframe := inObjects(want, "dwarf"), inObjects(want, "sframe"); dwarf != 10-bySFrame || sframe != bySFrame {
				t.Errorf("%d frames in registered objects by DWARF, %d by SFrame, want %d, %d", dwarf, sframe, 10-bySFrame, bySFrame)
			}
			compare(t, want, gdbtest.Backtrace(t, p.PID))
			path := filepath.Join(t.TempDir(), "core")
			if tt.core {
				gcore(t, p.PID, path)
			}
			end(t, p)
			got, warnings := reopened(t, snapshot, core.Options{}, flags)
			equalAll(t, got, want)
			if len(warnings) > 0 {
				t.Errorf("warnings %q", warnings)
			}
			if tt.core {
				equalThreads(t, asCore(t, path, core.Options{}, flags), want)
				compare(t, got, gdbtest.BacktraceCore(t, p.PID, want.Exe, snapshot))
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
		s, err := process(context.Background(), p.PID, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		doc, warnings, err := collect(s, &walkFlags{})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(warnings) > 0 {
			warned++
		}
		if th := &doc.Threads[0]; !th.whole || inObjects(doc, "dwarf") != 6 {
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

// inObjects counts the physical frames in registered objects that a sniffer unwinds.
func inObjects(doc *document, sniffer string) (n int) {
	for _, f := range doc.Threads[0].Frames {
		if strings.HasPrefix(f.Module, "[jit ") && !f.Guess && f.Sniffer == sniffer && slices.Contains([]string{"first", "second", "third"}, f.Function) {
			n++
		}
	}
	return n
}

// TestEmulator holds the stacks of qemu's threads, which run code that qemu has made and
// registered nearly always, against gdb's, and sees them whole while they run.
func TestEmulator(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "qemu-aarch64"), guesttest.ARM64.Build(t, "spin.c", "-O2", "-static"))
	made := 0
	for range 8 {
		for _, th := range take(t, p.PID, &walkFlags{}).Threads {
			if !th.whole {
				t.Errorf("thread %d: %s (%s) after %d frames", th.TID, th.Stop, th.Error, len(th.Frames))
			}
			if strings.HasPrefix(th.Frames[0].Module, "[jit ") {
				made++
			}
		}
	}
	if made < 4 {
		t.Errorf("%d of 8 stacks begin in code that qemu has made", made)
	}
	for range 10 { // it may be stopped elsewhere
		p.Stop(t)
		got := take(t, p.PID, &walkFlags{explain: true, registers: true})
		if f := &got.Threads[0].Frames[0]; strings.HasPrefix(f.Module, "[jit ") {
			compare(t, got, gdbtest.Backtrace(t, p.PID))
			return
		}
		p.Continue(t)
	}
	t.Error("qemu was not stopped in code that it has made")
}
