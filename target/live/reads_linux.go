package live

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
)

// Reads are a thread's registers, and what was read of it while it slept. Whatever was found by
// these alone is found once more when all of it is the same.
type Reads struct {
	regs   arch.Registers
	ranges []span // ascending, disjoint
	data   []byte // of the ranges, one behind the other
	stack  uint64 // how much of the stack's copy they take, bytes
}

// mostReads bounds the bytes that are kept of one thread, and mostNoted how often it is read.
const (
	mostReads = 32 << 10
	mostNoted = 4 << 10
)

// Note has the Sleeper note from now on what is read of it. It lends no copies then.
func (x *Sleeper) Note() { x.notes, x.noted, x.failed = true, x.noted[:0], false }

// Reads returns what was read since Note. It is nil if nothing was, if something could not be read,
// or if that is too much to be kept.
func (x *Sleeper) Reads() *Reads {
	if len(x.noted) == 0 || x.failed || x.woke {
		return nil
	}
	slices.SortFunc(x.noted, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	ranges, size := make([]span, 0, len(x.noted)), uint64(0)
	for _, s := range x.noted {
		last := len(ranges) - 1
		if last < 0 || s.lo > ranges[last].hi {
			ranges = append(ranges, s)
			size += s.hi - s.lo
		} else if more := s.hi; more > ranges[last].hi {
			size += more - ranges[last].hi
			ranges[last].hi = more
		}
	}
	if size > mostReads {
		return nil
	}
	r := &Reads{regs: x.regs, ranges: slices.Clip(ranges), data: make([]byte, 0, size)}
	for _, s := range ranges {
		if x.stack.holds(s.hi - 1) {
			r.stack = max(r.stack, s.hi-x.stack.lo)
		}
	}
	whole := x.each(r.ranges, func(data []byte) bool {
		r.data = append(r.data, data...)
		return true
	})
	if !whole {
		return nil
	}
	return r
}

// Same reports whether the thread has the same registers and memory as when it was read before.
func (x *Sleeper) Same(r *Reads) bool {
	if x.regs != r.regs {
		return false
	}
	was := r.data
	return x.each(r.ranges, func(data []byte) bool {
		same := bytes.Equal(data, was[:len(data)])
		was = was[len(data):]
		return same
	})
}

// each calls do with the memory of ranges, part by part, until do returns false. It reports whether
// all of the memory is there, and do has returned true.
func (x *Sleeper) each(ranges []span, do func(data []byte) bool) bool {
	var copied block // the last one
	for _, s := range ranges {
		for at := s.lo; at < s.hi; {
			if !copied.holds(at) {
				data, err := x.bytes(at)
				if err != nil {
					return false
				}
				copied = block{lo: at, data: data}
			}
			part := copied.data[at-copied.lo:]
			part = part[:min(uint64(len(part)), s.hi-at)]
			if !do(part) {
				return false
			}
			at += uint64(len(part))
		}
	}
	return true
}
