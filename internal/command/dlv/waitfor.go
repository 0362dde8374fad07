package dlv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/procdir"
)

// waitFor are the flags by which 'dlv attach' waits for a process.
type waitFor struct {
	prefix   string
	interval float64 // between two looks at the list of processes, ms
	duration float64 // how long to wait at most, ms; 0 for ever
}

func (w *waitFor) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.prefix, "waitfor", "", "wait for a process whose command line begins with this `text`")
	f.Float64Var(&w.interval, "waitfor-interval", 1, "how often to look for it, `milliseconds` between")
	f.Float64Var(&w.duration, "waitfor-duration", 0, "how long to wait for it, `milliseconds`: 0 is for ever")
}

// leastWaitInterval bounds the pace at which processes are looked for.
const leastWaitInterval = 100 * time.Microsecond

// milliseconds returns n milliseconds, at most a year, or an error if that is no duration.
func milliseconds(flag string, n float64) (time.Duration, error) {
	if !(n >= 0) {
		return 0, exit.Misuse(fmt.Errorf("--%s %v: want milliseconds", flag, n))
	}
	const year = 365 * 24 * time.Hour
	return time.Duration(min(n*float64(time.Millisecond), float64(year))), nil
}

// process waits for the process, and returns its ID.
func (w *waitFor) process(ctx context.Context) (int, error) {
	interval, err := milliseconds("waitfor-interval", w.interval)
	if err != nil {
		return 0, err
	}
	most, err := milliseconds("waitfor-duration", w.duration)
	if err != nil {
		return 0, err
	}
	if most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, most, errors.New("--waitfor "+w.prefix+": no such process has come in time"))
		defer cancel()
	}
	tick := time.NewTicker(max(interval, leastWaitInterval))
	defer tick.Stop()
	for {
		if pid := w.look(); pid > 0 {
			return pid, nil
		}
		select {
		case <-ctx.Done():
			if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
				return 0, err
			}
			return 0, exit.ErrInterrupted
		case <-tick.C:
		}
	}
}

// look returns the ID of such a process; 0 if there is none. All are looked at each time: a new one
// has its parent's command line until it has begun its program.
func (w *waitFor) look() int {
	folders, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, folder := range folders {
		pid, err := strconv.Atoi(folder.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile(procdir.File(pid, "cmdline"))
		if err != nil {
			continue
		}
		if bytes.HasPrefix(bytes.ReplaceAll(line, []byte{0}, []byte(" ")), []byte(w.prefix)) && len(line) > 0 {
			return pid
		}
	}
	return 0
}
