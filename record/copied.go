package record

import (
	"fmt"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/target"
)

// decorateCopy has the languages whose frames are on the stack say what the stack of a sample is,
// whose registers and memory are at hand.
func (s *space) decorateCopy(sample *perfevent.Sample, n int, whole bool) {
	if len(s.languages.runtimes) == 0 {
		s.languages.decorated, s.languages.early = nil, s.languages.early[:0]
		return
	}
	s.decorate(&s.engine.copied, &later{&s.engine.memory, whole}, n, whole, s.engine.moment.of(sample.Time))
}

// moment numbers the moments at which the memory of processes is read.
type moment struct {
	number uint64
	begun  uint64 // on the clock of the samples
}

// longestMoment is how long one lasts. Objects move, and what was read before that may not fit to
// what is read after it.
const longestMoment = uint64(50 * time.Millisecond)

// of returns the number of the moment at which memory is read for a sample of a time. The kernel
// hands out many samples at once: all are of before.
func (m *moment) of(sample uint64) uint64 {
	if now := uint64(clock()); sample >= m.begun || now-m.begun > longestMoment {
		m.number++
		m.begun = now
	}
	return m.number
}

// copied is the thread of a sample, as it was then.
type copied struct {
	*engine
	tid int
}

func (c *copied) ID() int                           { return c.tid }
func (c *copied) Name() string                      { return "" }
func (c *copied) Registers(r *arch.Registers) error { *r = c.regs; return nil }

// StackMemory is the memory that the stack is walked in.
func (c *copied) StackMemory() target.Memory { return &c.engine.memory }

// later is the memory of a process some time after a sample: the copy of the stack, and else what
// the process has now.
type later struct {
	*sampled
	whole bool // the walk has come to the stack's end
}

// aroundCopy is how far around the copy of a stack there may still be the stack, bytes: what frames
// have there has changed. No frame is outward of a stack's end, which other memory may follow.
const aroundCopy = 1 << 16

// ReadMemory implements [target.Memory].
func (m *later) ReadMemory(addr uint64, p []byte) (n int, err error) {
	size := uint64(len(m.stack))
	switch {
	case addr-m.lo < size:
		return m.sampled.ReadMemory(addr, p)
	case m.lo-addr <= aroundCopy, !m.whole && addr-m.lo < size+aroundCopy:
		return 0, fmt.Errorf("read memory at %#x: %w", addr, target.ErrUnmapped)
	}
	return m.space.life.ReadMemory(addr, p)
}
