package ahead

import (
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// maxWritten is how many instructions of called functions one search looks at.
	maxWritten = 1 << 12
	// perCall is how many instructions one more function counts for, whatever it has.
	perCall = 8
)

// everything is the set of all registers.
const everything = ^uint64(0)

// calls finds which registers the functions change that are called on the way.
type calls struct {
	m     *Machine
	code  []byte
	left  int              // instructions that may still be looked at
	known map[int32]uint64 // what functions write that have been looked at, by where they begin
}

// loses returns the registers whose values are lost by the call of the function at offset at: the
// registers that a function may change and this one does.
func (c *calls) loses(at int32) uint64 {
	if at < 0 || int(at) >= len(c.code) {
		return uint64(c.m.changed)
	}
	written, ok := c.known[at]
	if !ok {
		if c.left <= 0 {
			return uint64(c.m.changed)
		}
		written, _ = c.m.written(c.code, at, &c.left)
		written &= uint64(c.m.changed)
		if c.known == nil {
			c.known = make(map[int32]uint64)
		}
		c.known[at] = written
	}
	return written
}

// written returns the registers that the function at offset at writes, by itself or by the
// functions that it calls, and a map of the instructions of all these. It is everything unless each
// way through them is known, and leads to a return. left counts down the instructions.
func (m *Machine) written(code []byte, at int32, left *int) (set uint64, seen []uint64) {
	seen = make([]uint64, len(code)/64+1)
	returns := false
	work := append(make([]int32, 0, 16), at)
	var s state
	step := m.stepper().step
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for {
			if at < 0 || int(at) >= len(code) || *left <= 0 {
				return everything, seen
			}
			if seen[at/64]>>(at%64)&1 != 0 {
				break
			}
			*left--
			seen[at/64] |= 1 << (at % 64)
			s.start(0, int32(m.Word))
			w := step(code, at, &s)
			set |= s.changed()
			switch w.kind {
			case wayOn:
				at = w.next
				continue
			case wayJump:
				at = w.target
				continue
			case wayBranch, wayCall:
				work = append(work, w.next)
				at = w.target
				continue
			case wayMaybe:
				returns = true
				at = w.next
				continue
			case wayReturn:
				returns = true
			default:
				return everything, seen
			}
			break
		}
	}
	if !returns {
		return everything, seen
	}
	return set, seen
}

// Preserves implements arch.Arch.Preserves.
func (m *Machine) Preserves(code []byte, start, entry, pc uint64) (kept []trad.Reg, steps int) {
	size := uint64(len(code))
	if entry-start >= size || pc-start >= size {
		return nil, 0
	}
	left := maxWritten
	set, seen := m.written(code, int32(entry-start), &left)
	steps = maxWritten - left
	if at := pc - start; seen[at/64]>>(at%64)&1 == 0 {
		return nil, steps
	}
	for r := range uint8(dataflow.MaxRegs) {
		if left := m.base & m.changed &^ dataflow.Set(set); left.Has(dataflow.Reg(r)) && dataflow.Reg(r) != m.RA { // the call has written that
			kept = append(kept, m.dwarf(r))
		}
	}
	return kept, steps
}
