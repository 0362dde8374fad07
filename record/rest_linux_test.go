package record_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// TestRest records a thread that sleeps, and goes on now and then. While it sleeps it has samples,
// and the kernel counts no turn of it on a processor. After it has gone on, no sample has the place
// where it was.
func TestRest(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "rooms.c", "-O1", "-g"))
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Wall: true, Frequency: 1000, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ended := make(chan error, 1)
	go func() { ended <- r.Run(context.Background()) }()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	samples := func(n uint64) {
		end := r.Stats().Samples + n
		gdbtest.Await(t, "there are samples", func() bool { return r.Stats().Samples >= end })
	}
	const rests = 20
	for i := range 6 {
		here, there := "first", "second"
		if i%2 == 1 {
			here, there = there, here
		}
		gdbtest.Await(t, "the thread is let alone", func() bool {
			before := turns(t, p.PID)
			samples(rests)
			return turns(t, p.PID) == before
		})
		found := counted(record.NewNamer(names), r.Take())
		all := int64(0)
		for stack, n := range found {
			if all += n; strings.Contains(stack, there) || !strings.Contains(stack, here) && n >= rests {
				t.Errorf("round %d: %d times %s", i, n, stack)
			}
		}
		if all < rests {
			t.Errorf("round %d: %v", i, found)
		}
		if _, err := p.Stdin.Write([]byte{'\n'}); err != nil {
			t.Fatal(err)
		}
		if line, err := p.Stdout.ReadString('\n'); err != nil || line != "moved\n" {
			t.Fatal(line, err)
		}
		samples(2) // the first may have been begun before
		r.Take()
	}
	p.Exit(t)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// turns returns how often the first thread of a process has left a processor.
func turns(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(regexp.MustCompile(`(?m)^(?:non)?voluntary_ctxt_switches:.*$`).FindAllString(string(text), -1))
}
