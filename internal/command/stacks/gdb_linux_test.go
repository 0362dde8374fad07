package stacks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// matrix are the programs whose stacks are compared with gdb's.
var matrix = []struct {
	name  string
	src   string
	flags []string
	args  []string
}{
	{name: "plain", src: "chain.c", flags: gdbtest.Plain},
	{name: "O0", src: "chain.c", flags: []string{"-g", "-O0", "-Wa,--gsframe"}},
	{name: "frame pointers", src: "chain.c", flags: []string{"-g", "-O2", "-fno-omit-frame-pointer"}},
	{name: "no debug information", src: "chain.c", flags: []string{"-O2", "-fomit-frame-pointer", "-Wa,--gsframe"}},
	{name: "static-pie, stripped", src: "chain.c", flags: []string{"-O2", "-fomit-frame-pointer", "-Wa,--gsframe", "-static-pie", "-s"}},
	{name: "static, no .eh_frame_hdr", src: "chain.c", flags: []string{"-O2", "-g", "-static", "-Wl,--no-eh-frame-hdr"}},
	{name: "handler on the normal stack", src: "sighandler.c", flags: gdbtest.Plain, args: []string{"normal", "fault"}},
	{name: "handler on an alternate stack", src: "sighandler.c", flags: gdbtest.Plain, args: []string{"alt", "fault"}},
	{name: "handler, middle of a function", src: "sighandler.c", flags: gdbtest.Plain, args: []string{"alt", "middle"}},
	{name: "handler, asynchronous", src: "sighandler.c", flags: gdbtest.Plain, args: []string{"alt", "async"}},
	{name: "handler, raised", src: "sighandler.c", flags: gdbtest.Plain, args: []string{"normal", "raise"}},
	{name: "handler in a handler", src: "sighandler.c", flags: gdbtest.Plain, args: []string{"alt", "nested"}},
	{name: "frames above 64 KiB", src: "bigframe.c", flags: gdbtest.Plain},
	{name: "alloca, realigned, DRAP", src: "realign.c", flags: append([]string{"-mavx2"}, gdbtest.Plain...)},
	{name: "tail calls", src: "tailcall.c", flags: gdbtest.Plain},
	{name: "tail calls, no debug information", src: "tailcall.c", flags: []string{"-O2", "-fomit-frame-pointer", "-Wa,--gsframe"}},
	{name: "noreturn", src: "noreturn.c", flags: append([]string{"-falign-functions=1", "-fno-toplevel-reorder", "-fno-reorder-functions"}, gdbtest.Plain...)},
	{name: "inlined calls", src: "inline.c", flags: gdbtest.Plain},
	{name: "200 threads", src: "threads.c", flags: gdbtest.Plain},
	{name: "C++ in libstdc++", src: "cxxwait.cc", flags: gdbtest.Plain},
	{name: "recursion", src: "recurse.c", flags: gdbtest.Plain, args: []string{"20000"}},
	{name: "call of NULL", src: "nullcall.c", flags: gdbtest.Plain},
	{name: ".debug_frame contradicts .eh_frame", src: "twotables.c", flags: []string{"-O2", "-fomit-frame-pointer"}},
	{name: "SFrame V2", src: "mix-v2"},
	{name: "SFrame V3", src: "mix-v3"},
}

// TestGDB compares PC, CFA, type, function and line of every frame of every
// thread with gdb's, on the same standing process.
func TestGDB(t *testing.T) {
	for i, tt := range matrix {
		t.Run(tt.name, func(t *testing.T) {
			gdbtest.Share(t, i)
			p := commandtest.StartTarget(t, tt.src, tt.flags, tt.args)
			got := commandtest.Take(t, p.PID, &report.Flags{Explain: true})
			commandtest.CompareAll(t, got, gdbtest.Backtrace(t, p.PID))
		})
	}
}

// TestDlopenGDB does the same with a library that is loaded at run time.
func TestDlopenGDB(t *testing.T) {
	lib := gdbtest.Build(t, "plugin.c", append([]string{"-shared", "-fPIC"}, gdbtest.Plain...)...)
	p := commandtest.StartTarget(t, "dlopen.c", gdbtest.Plain, []string{lib})
	commandtest.CompareAll(t, commandtest.Take(t, p.PID, &report.Flags{}), gdbtest.Backtrace(t, p.PID))
}

// TestSniffersAgree compares the stacks of one sniffer alone with the stacks of the default order,
// as far as the sniffer has data.
func TestSniffersAgree(t *testing.T) {
	for i, tt := range matrix {
		t.Run(tt.name, func(t *testing.T) {
			gdbtest.Share(t, i+1)
			p := commandtest.StartTarget(t, tt.src, tt.flags, tt.args)
			process, err := live.Attach(context.Background(), p.PID, live.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer process.Close()
			threads, err := process.Threads()
			if err != nil {
				t.Fatal(err)
			}
			for _, th := range threads {
				want := physical(t, process, th, &report.Flags{})
				for _, names := range [][]string{nil, {"sframe"}, {"dwarf"}, {"prologue"}, {"fp-guess"}} {
					table := (&report.Flags{Choice: sniffers.Choice{Order: names}}).Table(process.Arch(), false, nil)
					if err := walktest.New(process.Modules(), table).Check(process, th); err != nil {
						t.Errorf("thread %d, sniffers %q: %v", th.ID(), names, err)
					}
				}
				for _, alone := range []string{"sframe", "dwarf"} {
					// In every order, sigtramp unwinds the trampoline.
					got := physical(t, process, th, &report.Flags{Choice: sniffers.Choice{Order: []string{"sigtramp", alone}}})
					for i, f := range got {
						w := want[i]
						cfa, ok := f.CFA()
						wantCFA, _ := w.CFA()
						if f.PC() != w.PC() || ok && cfa != wantCFA {
							t.Errorf("%s alone, thread %d: %v CFA %#x, default order has %v CFA %#x", alone, th.ID(), f, cfa, w, wantCFA)
						}
					}
					if alone == "dwarf" && len(got) < described(want) {
						t.Errorf("dwarf alone: thread %d has %d frames, default order %d", th.ID(), len(got), len(want))
					}
				}
			}
		})
	}
}

// physical returns a thread's frames, without what symbols add.
func physical(t *testing.T, process target.Target, th target.Thread, flags *report.Flags) (frames []*frame.Frame) {
	t.Helper()
	stack, err := frame.New(process, th, flags.Table(process.Arch(), false, nil))
	if err != nil {
		t.Fatal(err)
	}
	for f := range stack.All() {
		if f != nil {
			frames = append(frames, f)
		}
	}
	return frames
}

// described returns how many frames, from the innermost on, tables describe.
func described(frames []*frame.Frame) int {
	for i, f := range frames {
		if f.Sniffer() == "prologue" || f.Row().Flags&trad.Guess != 0 {
			return i
		}
	}
	return len(frames)
}

// TestSectionHeadersStripped unwinds a program by its segments alone. gdb cannot; it reads the same
// program with its section headers.
func TestSectionHeadersStripped(t *testing.T) {
	p := commandtest.StartTarget(t, "mix-v3", nil, nil)
	want := gdbtest.Backtrace(t, p.PID)
	bare := commandtest.StartTarget(t, "mix-v3-noheaders", nil, nil)
	got := commandtest.Take(t, bare.PID, &report.Flags{Choice: sniffers.Choice{Order: []string{"sigtramp", "sframe", "dwarf"}}})
	for _, w := range want {
		i := slices.IndexFunc(got.Threads, func(th report.Thread) bool { return th.Name == w.Name })
		if i < 0 {
			t.Fatalf("no thread %q", w.Name)
		}
		th := got.Threads[i]
		frames := slices.DeleteFunc(slices.Clone(w.Frames), func(f gdbtest.Frame) bool { return !f.Physical() })
		mine := slices.DeleteFunc(slices.Clone(th.Frames), func(f report.Frame) bool { return f.Type == "inline" || f.Type == "tailcall" })
		if len(mine) != len(frames) || !th.Whole {
			t.Errorf("thread %q: %d frames (%s %s), gdb has %d", w.Name, len(mine), th.Stop, th.Error, len(frames))
			continue
		}
		// The two programs are loaded at different places: they share offsets in pages, and sizes
		// of frames.
		const page = 0xfff
		for j, f := range frames {
			busy := j > 0 && frames[j-1].Type == "sigtramp" // interrupted somewhere in a loop
			switch {
			case mine[j].PC.V&page != f.PC&page && !busy:
				t.Errorf("thread %q frame %d: PC %#x, gdb has %#x", w.Name, j, mine[j].PC.V, f.PC)
			case j > 0 && f.CFA != 0 && frames[j-1].Type == "normal" && f.Type == "normal" && mine[j].CFA.V-mine[j-1].CFA.V != f.CFA-frames[j-1].CFA:
				t.Errorf("thread %q frame %d: CFA is %#x outward, gdb has %#x", w.Name, j, mine[j].CFA.V-mine[j-1].CFA.V, f.CFA-frames[j-1].CFA)
			}
		}
	}
}
