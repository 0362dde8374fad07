//go:build linux

package guesttest

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// TestRestorer unwinds through signal trampolines of unknown code, by the data that the kernel has
// left on the stack. SFrame only marks them as signal frames. Outward of the signal, gdb's stack
// from just before it is still true. If the kernel has left nothing, the stack ends there, with
// every order of sniffers.
func TestRestorer(t *testing.T) {
	orders := []order{
		{[]string{"sigtramp", "sframe"}, whole},
		{[]string{"sframe", "prologue", "fp-guess", "sigtramp"}, whole},
	}
	for _, s := range []struct {
		subject
		stops int
	}{
		{subject{"arm64", committed(ARM64, "restorer-arm64-v3"), orders, false}, 2},
		{subject{"s390x", committed(S390X, "restorer-s390x-v3"), orders, false}, 3},
	} {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(c *checker) {
				var before []gdbtest.Frame
				signals, others := 0, 0
				c.Each(t, false, func(stop *Stop) {
					switch stop.Scenario {
					case "before":
						before = stop.Threads[0].Frames[1:]
					case "other":
						for _, o := range c.orders {
							c.endsAtSignal(stop, o)
						}
						others++
					default:
						for _, o := range c.orders {
							c.siginfo(stop, before, o)
						}
						c.endsAtSignal(stop, order{list: []string{"sframe"}})
						signals++
					}
				})
				if signals != s.stops || others != 1 {
					t.Errorf("%d stops in a handler, %d others", signals, others)
				}
			})
		})
	}
}

// endsAtSignal checks that a stack ends in its third frame, which is a signal frame.
func (c *checker) endsAtSignal(stop *Stop, o order) {
	t := c.t
	tg, err := fromStub.open(stop, c.Path, c.Root)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	sniffers, err := sniffer.ByName(o.list...)
	if err != nil {
		t.Fatal(err)
	}
	table := frame.NewTable(tg.Arch(), sniffers...)
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	f, err := stack.Frame(2)
	if err != nil || f == nil {
		t.Errorf("%s, %v: %v, %v", stop.Scenario, o, f, err)
		return
	}
	if prev, _ := f.Prev(); prev != nil || f.Type() != frame.SigTramp || f.StopReason() != frame.Unavailable || f.Sniffer() != "" {
		t.Errorf("%s, %v: %v of type %v by %q leads to %v, %v", stop.Scenario, o, f, f.Type(), f.Sniffer(), prev, f.StopReason())
	}
	if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
		t.Errorf("%s, %v: %v", stop.Scenario, o, err)
	}
}
