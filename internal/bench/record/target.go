//go:build linux

package record

import (
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/process"
)

// threads is how many the target has.
const threads = 2

// target is the process that is sampled.
type target struct {
	*process.Process
	counts string // the file in which it counts its work
}

func (b *bench) start(depth int) (*target, error) {
	t := &target{counts: b.path("counts")}
	if err := os.WriteFile(t.counts, make([]byte, 8*threads), 0o666); err != nil {
		return nil, err
	}
	var err error
	t.Process, err = process.Start(nil, b.program, strconv.Itoa(threads), strconv.Itoa(depth), t.counts)
	return t, err
}

func (t *target) stop() { t.Process.Stop() }

// state returns how many pieces of work are done, and the processor time of all threads.
func (t *target) state() (done uint64, spent time.Duration, err error) {
	raw, err := os.ReadFile(t.counts)
	if err != nil {
		return 0, 0, err
	}
	for ; len(raw) >= 8; raw = raw[8:] {
		done += binary.NativeEndian.Uint64(raw)
	}
	spent, err = process.Spent(t.PID)
	return done, spent, err
}

// work returns the time that the target takes for 1000 pieces of its work while something else is
// done.
func (t *target) work(during func() error) (time.Duration, error) {
	before, from, err := t.state()
	if err != nil {
		return 0, err
	}
	if err := during(); err != nil {
		return 0, err
	}
	after, to, err := t.state()
	if err != nil {
		return 0, err
	}
	if after == before {
		return 0, fmt.Errorf("process %d does not work", t.PID)
	}
	return (to - from) * 1000 / time.Duration(after-before), nil
}
