//go:build amd64

package sniffer_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// A contextStep is a stop in a function that changes stacks, with what the walk has found for its
// caller.
type contextStep struct {
	pc, sp, frame1, sp1 uint64
}

// TestContexts steps through libc's functions that change stacks. The processor says who is the
// caller: before the change who has called the function, and behind it whom it returns to.
func TestContexts(t *testing.T) {
	for _, b := range []struct {
		build func(t testing.TB, src string, flags ...string) string
		flags []string
	}{
		{gdbtest.Build, []string{"-O2"}},
		{gdbtest.Build, []string{"-O2", "-static"}},
		{gdbtest.Build386, []string{"-O2", "-Wl,-z,lazy"}},
		{gdbtest.Build386, []string{"-O2", "-static"}},
	} {
		flags := b.flags
		program := b.build(t, "contexts.c", flags...)
		th := trace(t, program, "")
		table, word := sniffer.Table(th.arch), uint64(th.arch.PtrSize)
		check := walktest.New(th.modules, table)
		var steps []contextStep // in the function now
		var lo, hi uint64
		changes, compared := 0, 0
		back := uint64(0) // where a call of that function comes back: 32-bit code calls the vDSO
		for range 10_000 {
			did, _, alive := th.step(t, 0)
			if !alive {
				break
			}
			pc, sp := th.regs.Rip, th.regs.Rsp
			if did.kind == called && len(steps) > 0 && back == 0 && (pc < lo || pc >= hi) {
				back = did.ra
			}
			if back != 0 && pc != back {
				continue
			}
			back = 0
			if pc >= lo && pc < hi {
				table.Reset()
				stack, err := frame.New(th, th, table)
				if err != nil {
					t.Fatal(err)
				}
				now := contextStep{pc: pc, sp: sp}
				if f, _ := stack.Frame(1); f != nil {
					at := f.Register(th.arch.SP)
					now.frame1, now.sp1 = f.PC(), at.Bits
				}
				if steps = append(steps, now); sp-steps[0].sp+64 > 128 { // on the other stack
					if err := check.Check(th, th); err != nil {
						t.Errorf("%#x: %v", pc, err)
					}
				}
				continue
			}
			if len(steps) > 1 {
				first := steps[0]
				for i, s := range steps {
					if compared++; s.sp >= first.sp-64 && s.sp <= first.sp+64 {
						if last := i+1 < len(steps) && steps[i+1].sp != s.sp; last && s.frame1 == pc && s.sp1 == sp {
							continue // setcontext's table has it so for the instruction that loads SP
						}
						if s.frame1 != first.frame1 || s.sp1 != first.sp+word {
							t.Errorf("%q %#x: called from %#x, SP %#x; want %#x, SP %#x", flags, s.pc, s.frame1, s.sp1, first.frame1, first.sp+word)
						}
					} else if changes++; s.frame1 != pc || s.sp1 != sp {
						t.Errorf("%q %#x: called from %#x, SP %#x; want %#x, SP %#x", flags, s.pc, s.frame1, s.sp1, pc, sp)
					}
				}
			}
			steps = steps[:0]
			if m := th.modules.Find(pc); m != nil {
				if im, bias, err := m.Image(); err == nil {
					for _, name := range []string{"swapcontext", "setcontext", "__setcontext"} {
						for _, x := range im.Lookup(name, 4) {
							if pc == x.Addr+bias {
								lo, hi = pc, pc+x.Size
							}
						}
					}
				}
			}
			if pc == lo && lo != 0 { // the first instruction, too: who has called it is at SP
				b := make([]byte, word)
				th.ReadMemory(sp, b)
				steps = append(steps, contextStep{pc, sp, th.arch.Word(b), sp + word})
			}
		}
		t.Logf("%q: %d instructions, %d of them on the other stack", flags, compared, changes)
		if changes < 50 {
			t.Errorf("%q: %d instructions behind a change of stacks", flags, changes)
		}
	}
}

// TestContextEnds steps through libc's code to which the first function of a coroutine returns. No
// function has called it.
func TestContextEnds(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-static"}} {
		program := gdbtest.Build(t, "contexts.c", flags...)
		lo, hi := rangeOf(t, program, "comes_back")
		th := trace(t, program, "")
		table := sniffer.Table(th.arch)
		check := walktest.New(th.modules, table)
		bias := uint64(0)
		for _, m := range th.modules.All() {
			if m.Path == program {
				_, bias, _ = m.Image()
			}
		}
		ended, base := 0, uint64(0) // base is SP when the function has returned
		for range 10_000 {
			before := th.regs.Rip - bias
			did, _, alive := th.step(t, 0)
			if !alive {
				break
			}
			if did.kind == returned && before >= lo && before < hi {
				base = th.regs.Rsp
			}
			if base == 0 || th.regs.Rsp > base+256 {
				base = 0 // on the other stack
				continue
			}
			ended++
			table.Reset()
			stack, err := frame.New(th, th, table)
			if err != nil {
				t.Fatal(err)
			}
			var last *frame.Frame
			for f, err := range stack.All() {
				if err == nil {
					last = f
				}
			}
			if !last.StopReason().Whole() {
				t.Errorf("%q %#x: %s", flags, th.regs.Rip, last.StopReason())
			}
			if err := check.Check(th, th); err != nil {
				t.Errorf("%#x: %v", th.regs.Rip, err)
			}
		}
		if t.Logf("%q: %d instructions", flags, ended); ended < 10 {
			t.Errorf("%q: %d instructions", flags, ended)
		}
	}
}
