//go:build linux

package guesttest

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// TestSiginfo unwinds through the signal frame of a handler with SA_SIGINFO. On s390x, gdb 13 takes
// it for a frame without SA_SIGINFO if the trampoline is not on the stack. Outward of the signal,
// gdb's stack from just before it is still true.
func TestSiginfo(t *testing.T) {
	for i, s := range []subject{
		{"arm64", committed(ARM64, "stacks-arm64-v3"), version(bySFrame), false},
		{"s390x", committed(S390X, "stacks-s390x-v3"), version(bySFrame), false},
		{"s390x, back chain", committed(S390X, "stacks-s390x-v3-backchain"), version(bySFrame), false},
		{"s390x, static", built(S390X, "stacks.c", "-O2", "-static"), tables, false},
	} {
		t.Run(s.name, func(t *testing.T) {
			gdbtest.Share(t, i)
			s.run(t, func(c *checker) {
				var before []gdbtest.Frame
				checked := 0
				c.Each(t, false, func(stop *Stop) {
					switch stop.Scenario {
					case "before":
						before = stop.Threads[0].Frames[1:]
					case "alternate":
						for _, o := range c.orders {
							c.siginfo(stop, before, o)
							checked++
						}
					}
				})
				if checked == 0 {
					t.Error("no stop in a handler")
				}
			})
		})
	}
}

// siginfo compares the frames outward of the signal with the frames before it, from run_alternate's
// on.
func (c *checker) siginfo(stop *Stop, before []gdbtest.Frame, o order) {
	t := c.t
	tg, err := fromStub.open(stop, c.Path, c.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	table := sniffer.Table(tg.Arch())
	if o.list != nil {
		sniffers, err := sniffer.ByName(o.list...)
		if err != nil {
			t.Fatal(err)
		}
		table = frame.NewTable(tg.Arch(), sniffers...)
	}
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
		t.Errorf("%v: %v", o, err)
	}
	var frames []*frame.Frame
	trampoline := -1
	for f, err := range stack.All() {
		if err != nil {
			t.Errorf("%v: %v", o, err)
			return
		}
		if f.Type() == frame.SigTramp {
			trampoline = len(frames)
		}
		frames = append(frames, f)
	}
	inner := len(frames) - len(before)
	if trampoline != 2 || inner <= trampoline {
		t.Errorf("%v: %d frames, the trampoline is number %d; there were %d before the signal", o, len(frames), trampoline, len(before))
		return
	}
	// The caller of the code that raises the signal has the same frame, at another PC.
	if cfa, ok := frames[inner].CFA(); !ok || cfa != before[0].CFA {
		t.Errorf("%v: run_alternate: CFA %#x, gdb had %#x", o, cfa, before[0].CFA)
	}
	for i := range before[1:] {
		if _, why := differs(tg, frames[inner+1+i], &before[1+i], nil, nil, false); why != nil {
			t.Errorf("%v: %s: %v", o, before[1+i].Function, why)
		}
	}
}
