//go:build amd64

package sniffer_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/trad"
)

// hotspotProgram has code in a heap with tables like a Java virtual machine's.
func hotspotProgram(t *testing.T) string {
	return gdbtest.Build(t, "hotspot.c", "-O2", "-rdynamic", "-fno-pie", "-no-pie")
}

// TestHotspotSteps runs the code in the heap one instruction at a time. At each instruction, the
// callers must be the functions whose return addresses the processor has pushed.
func TestHotspotSteps(t *testing.T) {
	for _, release := range []string{"8", "17", "25"} {
		t.Run(release, func(t *testing.T) {
			s := &heapSteps{traced: trace(t, hotspotProgram(t), release)}
			s.table = sniffer.Table(s.Arch())
			s.walker = walktest.New(s.modules, s.table)
			for alive := true; alive && !(s.right > 0 && len(s.calls) == 0) && !t.Failed(); {
				if alive = s.account(t); s.inHeap() {
					s.compare(t)
				}
			}
			// Guesses are allowed in the stub, whose frame is not in the tables, and where the
			// interpreter has the return address, or its caller's stack pointer, in a register.
			if t.Logf("%d stacks right, %d guessed", s.right, s.guessed); s.right < 70 || s.guessed > 24 {
				t.Errorf("%d stacks right, %d guessed", s.right, s.guessed)
			}
		})
	}
}

type heapSteps struct {
	*traced
	table          *frame.Table
	walker         *walktest.Checker
	calls          []took
	pushed         bool // the last instruction has pushed a word
	right, guessed int
}

func (s *heapSteps) inHeap() bool {
	return s.modules.Find(s.regs.Rip) == nil && s.modules.IsCode(s.regs.Rip)
}

// account makes a step and keeps account of calls. The interpreter calls by a push and a jump, and
// returns by a jump.
func (s *heapSteps) account(t *testing.T) (alive bool) {
	var code [16]byte
	s.ReadMemory(s.regs.Rip, code[:])
	in, _ := x86asm.Decode(code[:], 64)
	did, _, alive := s.step(t, 0)
	if !alive {
		return false
	}
	sp := s.regs.Rsp
	if did.kind == called {
		s.calls = append(s.calls, took{cfa: did.cfa, ra: did.ra})
	}
	if n := len(s.calls); n > 0 && did.kind != called {
		top := s.calls[n-1]
		var word [8]byte
		s.ReadMemory(sp, word[:])
		ra := s.Arch().Order.Uint64(word[:])
		switch {
		case s.regs.Rip == top.ra && sp == top.cfa:
			s.calls = s.calls[:n-1]
		case in.Op == x86asm.JMP && s.pushed && ra != top.ra:
			s.calls = append(s.calls, took{cfa: sp + 8, ra: ra})
		}
	}
	s.pushed = in.Op == x86asm.PUSH
	return true
}

func (s *heapSteps) compare(t *testing.T) {
	stack, err := frame.New(s, s, s.table)
	if err != nil {
		t.Fatal(err)
	}
	f, err := stack.Frame(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.walker.Check(s, s); err != nil {
		t.Errorf("%#x: %v", s.regs.Rip, err)
	}
	f0 := f
	for i := len(s.calls) - 1; i >= 0; i-- {
		if f.Row().Flags&trad.Guess != 0 || f.Level == 0 && f.Sniffer() == "" {
			s.guessed++
			return
		}
		prev, err := f.Prev()
		if prev == nil || prev.PC() != s.calls[i].ra {
			row := f.Row()
			t.Errorf("%#x: frame %d at %#x, by %s (%s): the caller is %v, %v; want %#x", f0.PC(), f.Level, f.PC(), f.Sniffer(),
				row.Format(s.Arch().RegName), prev, err, s.calls[i].ra)
			return
		}
		if sp := prev.Register(amd64.RSP); sp.Bits != s.calls[i].cfa {
			t.Errorf("%#x: frame %d has SP %#x, want %#x", f0.PC(), prev.Level, sp.Bits, s.calls[i].cfa)
		}
		f = prev
	}
	s.right++
}

// The tables lead out of compiled code in a loop without a way out, and to the caller of an
// interpreted frame. If the tables lack something, the decline says so.
func TestHotspot(t *testing.T) {
	const whole = "hotspot hotspot hotspot hotspot main"
	for _, tt := range []struct{ args, want string }{
		{"8 spin", whole},
		{"17 spin", whole},
		{"25 spin", whole},
		{"17 spin without CodeBlob::_frame_size", "the Java virtual machine's tables leave out CodeBlob::_frame_size"},
		{"25 spin without CodeBlob::_data_offset", "the Java virtual machine's tables leave out CodeBlob::_data_offset"},
		{"17 spin without CodeCache::_heaps", "the Java virtual machine's tables leave out CodeCache::_heaps"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			p := gdbtest.StartRunning(t, hotspotProgram(t), strings.Fields(tt.args)...)
			p.Stdin.Write([]byte{'x'})
			for {
				got, inHeap := heapStack(t, p.PID)
				if !inHeap {
					continue // the thread is not there yet
				}
				if got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
				bothWays(t, p.PID)
				break
			}
		})
	}
}

// heapStack returns the sniffers that unwind the frames in the heap, up to main, or why the sniffer
// hotspot has declined the innermost one.
func heapStack(t *testing.T, pid int) (text string, inHeap bool) {
	tg, threads := attach(t, pid)
	defer tg.Close()
	stack, err := frame.New(tg, threads[0], sniffer.Table(tg.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := stack.Frame(0)
	if err != nil {
		t.Fatal(err)
	}
	if tg.Modules().Find(f.PC()) != nil {
		return "", false
	}
	var list []string
	for ; f != nil; f, err = f.Prev() {
		if m := f.Module(); m != nil {
			im, bias, err := m.Image()
			if err != nil {
				t.Fatal(err)
			}
			symbol, _ := im.Symbols().Find(f.AddressInBlock() - bias)
			return strings.Join(append(list, im.Symbols().Name(symbol)), " "), true
		}
		if f.Sniffer() != "hotspot" {
			for _, d := range f.Claim().Declined {
				if d.Sniffer == "hotspot" {
					return d.Reason, true
				}
			}
		}
		list = append(list, f.Sniffer())
	}
	return fmt.Sprint(list, err), true
}
