//go:build amd64

package sniffer_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// TestFiberBegins steps through code that begins coroutines. The first function's return address,
// which the processor has at its beginning, is the caller all the way, and the stack ends there.
func TestFiberBegins(t *testing.T) {
	for name, program := range map[string]string{
		"amd64": gdbtest.Build(t, "fiberbegin.c", "-O2"),
		"i386":  gdbtest.Build386(t, "fiberbegin.c", "-O2", "-static"),
	} {
		t.Run(name, func(t *testing.T) {
			lo, hi := rangeOf(t, program, "begins")
			first, _ := rangeOf(t, program, "first")
			th := trace(t, program, "")
			table, word := sniffer.Table(th.arch), uint64(th.arch.PtrSize)
			check := walktest.New(th.modules, table)
			bias := uint64(0)
			for _, m := range th.modules.All() {
				if m.Path == program {
					_, bias, _ = m.Image()
				}
			}
			type step struct {
				pc, caller uint64
				frames     int
				stop       frame.StopReason
			}
			var steps []step
			compared := 0
			for range 10_000 {
				if _, _, alive := th.step(t, 0); !alive {
					break
				}
				pc := th.regs.Rip - bias
				if pc == first {
					b := make([]byte, word)
					th.ReadMemory(th.regs.Rsp, b)
					for _, s := range steps {
						if compared++; s.caller != th.arch.Word(b) || s.frames != 2 || s.stop != frame.Outermost {
							t.Errorf("%#x: %d frames, the caller is at %#x, want %#x; %v", s.pc, s.frames, s.caller, th.arch.Word(b), s.stop)
						}
					}
				}
				if pc < lo || pc >= hi {
					steps = nil
					continue
				}
				table.Reset()
				stack, err := frame.New(th, th, table)
				if err != nil {
					t.Fatal(err)
				}
				now := step{pc: pc}
				for f, err := range stack.All() {
					if err == nil {
						if now.frames++; f.Level == 1 {
							now.caller = f.PC()
						}
						now.stop = f.StopReason()
					}
				}
				steps = append(steps, now)
				if err := check.Check(th, th); err != nil {
					t.Errorf("%#x: %v", pc, err)
				}
			}
			if compared != 8 {
				t.Errorf("%d instructions were compared", compared)
			}
		})
	}
}
