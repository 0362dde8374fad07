//go:build linux

package guesttest

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/siginfo"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/core"
)

// TestReceived: signal frames in qemu's core files have what the handlers print of their signals.
// qemu notes no mask of a thread, so of handlers without SA_SIGINFO only 32-bit x86's has a signal:
// its number. It does not note the last fault, either.
func TestReceived(t *testing.T) {
	for i, p := range []*Processor{ARM64, ARM, I386, S390X} {
		t.Run(p.GOARCH, func(t *testing.T) {
			gdbtest.Share(t, i)
			g := &Guest{Processor: p, Path: p.Build(t, "../received.c", "-g", "-O1", "-w", "-static")}
			for _, args := range []string{"null abort", "readonly abort", "raise abort", "nested abort", "illegal abort", "divide abort", "null plain abort", "raise plain abort"} {
				t.Run(args, func(t *testing.T) { g.received(t, strings.Fields(args)) })
			}
		})
	}
}

// received compares the signal frames of one core file with the text of the handlers.
func (g *Guest) received(t *testing.T, args []string) {
	said, _ := exec.Command(gdbtest.Tool(t, g.QEMU), append(append(g.options(), g.Path), args...)...).Output()
	var want []string
	for _, line := range strings.Split(string(said), "\n") {
		if strings.HasPrefix(line, "came ") {
			want = append([]string{line}, want...)
		}
	}
	if args[0] == "divide" && len(want) == 0 {
		return // arm64 divides by zero
	}
	c, err := core.Open(g.Dump(t, args...), core.Options{Exe: g.Path})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	threads, _ := c.Threads()
	stack, err := frame.New(c, threads[0], sniffer.Table(c.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	defer stack.Close()
	n := 0
	for f, err := range stack.All() {
		if err != nil {
			t.Error(err)
			break
		}
		if f.Type() != frame.SigTramp {
			continue
		}
		s, ok := f.Signal()
		if n++; n > len(want) {
			break
		}
		if why := differsFrom(&s, ok, want[n-1], g.GOARCH); why != "" {
			t.Errorf("%+v: %s; the handler says %q", s, why, want[n-1])
		}
	}
	if n != len(want) || n == 0 {
		t.Errorf("%d signal frames, want %d", n, len(want))
	}
}

// differsFrom says how a signal differs from what its handler has printed; "" if it does not.
func differsFrom(s *siginfo.Info, ok bool, said, goarch string) string {
	var number, code, pid int
	var addr uint64
	n, _ := fmt.Sscanf(said, "came %d %d %v %d", &number, &code, &addr, &pid)
	switch {
	case n == 1 && goarch != "386":
		if ok {
			return "it has no siginfo_t"
		}
		return ""
	case !ok:
		return "no signal"
	case s.Number != number:
		return "another number"
	case n == 1:
		return ""
	case s.Code != code:
		return "another code"
	case s.HasAddr && s.Addr != addr, code > 0 && code != siginfo.Kernel && !s.HasAddr:
		return "another address"
	case code == siginfo.Tkill && s.Sender == 0: // the other run has another process ID
		return "no sender"
	}
	return ""
}
