//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// sample samples a process, and all that it begins, so many times a second, until ctx is done or it
// has ended. It sends the stacks every so often.
func sample(ctx context.Context, pid, frequency int, every time.Duration, send func(*picture.Stacks) error) error {
	recorder, err := record.Start(record.Options{
		PIDs: []int{pid}, Frequency: frequency,
		Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) },
	})
	if err != nil {
		return err // it says what to do, where the kernel does not allow it
	}
	defer recorder.Close()
	ended := make(chan error, 1)
	go func() { ended <- recorder.Run(ctx) }()

	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	names := record.NewNamer(symbols) // what has a name keeps it
	for tick := time.Tick(every); ; {
		running := true
		select {
		case <-tick:
		case err = <-ended:
			running = false
		}
		stacks := names.Picture(recorder.Take()) // since the last time
		if len(stacks.Samples) > 0 {
			if why := send(stacks); why != nil { // the process goes on, and so does this
				fmt.Fprintln(os.Stderr, "sfwalk-profiler:", why)
			}
		}
		if !running {
			return err
		}
	}
}
