//go:build amd64

package sniffer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// A thrown is a stop in the unwinder of C++, with what the walk has found.
type thrown struct {
	pc     uint64
	frames []seenFrame
}

// TestThrows steps through an unwinder that takes frames down and goes on at a handler. The processor says what the
// stack is: when the thread has come to the handler, the calls around the handler's function are those that have
// not returned.
func TestThrows(t *testing.T) {
	type built = func(t testing.TB, src string, flags ...string) string
	for _, v := range []struct {
		name  string
		build built
		flag  string
	}{
		{"64-bit", gdbtest.Build, "-fomit-frame-pointer"}, {"64-bit, FP", gdbtest.Build, "-fno-omit-frame-pointer"},
		{"32-bit", gdbtest.Build386, "-fomit-frame-pointer"}, {"32-bit, FP", gdbtest.Build386, "-fno-omit-frame-pointer"},
	} {
		t.Run(v.name, func(t *testing.T) {
			program := v.build(t, "unwinds.cc", "-O2", v.flag)
			lo, hi := rangeOf(t, program, "all")
			th := trace(t, program, "")
			table := sniffer.Table(th.arch)
			check := walktest.New(th.modules, table)
			function := func(pc uint64) string {
				m := th.modules.Find(pc)
				if m == nil || m.Path != program {
					return ""
				}
				im, bias, err := m.Image()
				if err != nil {
					t.Fatal(err)
				}
				s, _ := im.Symbols().Find(pc - bias)
				name, _, _ := strings.Cut(im.Symbols().Name(s), ".") // of thrower.cold
				return name
			}
			bias := uint64(0)
			for _, m := range th.modules.All() {
				if m.Path == program {
					_, bias, _ = m.Image()
				}
			}
			var calls []seenFrame // under way
			var steps []thrown    // since the unwinder was called
			known := map[uint64]int{}
			handlers, compared, unwinder := 0, 0, false
			for range 300_000 {
				did, _, alive := th.step(t, 0)
				if !alive {
					break
				}
				pc, sp := th.regs.Rip, th.regs.Rsp
				if len(calls) == 0 && (pc-bias < lo || pc-bias >= hi) {
					if handlers > 0 {
						break
					}
					continue
				}
				was := unwinder
				if m := th.modules.Find(pc); m != nil {
					unwinder = strings.Contains(m.Path, "libgcc")
				}
				if did.kind == called {
					calls = append(calls, seenFrame{pc: did.ra, sp: did.cfa})
				}
				back := len(calls) > 0 && calls[len(calls)-1].pc == pc
				for len(calls) > 0 && calls[len(calls)-1].sp <= sp {
					calls = calls[:len(calls)-1]
				}
				if was && !unwinder && did.kind != called && !back && function(pc) != "" { // a handler
					handlers++
					clear(known)
					for _, s := range steps {
						compared++
						if why := passed(s.frames, calls, function, pc); why != "" {
							t.Errorf("%#x: on the way to %#x in %s: %s: %+v", s.pc, pc, function(pc), why, s.frames)
						}
					}
				}
				if !unwinder {
					if function(pc) != "" {
						steps = steps[:0]
					}
					continue
				}
				if known[pc]++; known[pc] > 1 {
					continue
				}
				table.Reset()
				stack, err := frame.New(th, th, table)
				if err != nil {
					t.Fatal(err)
				}
				s := thrown{pc: pc}
				for f, err := range stack.All() {
					if err == nil {
						at := f.Register(th.arch.SP)
						s.frames = append(s.frames, seenFrame{pc: f.PC(), sp: at.Bits})
					}
				}
				steps = append(steps, s)
				if err := check.Check(th, th); err != nil {
					t.Errorf("%#x: %v", pc, err)
				}
			}
			t.Logf("%d handlers, %d instructions of the unwinder", handlers, compared)
			if handlers < 4 || compared < 1000 {
				t.Errorf("%d handlers, %d instructions of the unwinder", handlers, compared)
			}
		})
	}
}

// passed says why frames are not those of an unwinder that goes to a handler. calls, the outermost first, are those
// around the handler's function.
func passed(frames, calls []seenFrame, function func(pc uint64) string, handler uint64) string {
	outer := slices.Clone(calls)
	slices.Reverse(outer)
	at := slices.Index(frames, outer[0])
	switch {
	case at < 1:
		return "its caller is missing"
	case function(frames[at-1].pc-1) != function(handler): // before a return address, which may be the next function's
		return "its function is missing"
	case len(frames) < at+len(outer) || !slices.Equal(frames[at:at+len(outer)], outer):
		return "a caller further out is missing"
	}
	return ""
}
