package prologue

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	// neighbours is how many bytes of code behind PC are searched for jumps.
	neighbours = 4 << 10
	// maxShared bounds how many targets of them are looked at.
	maxShared = 64
)

// byNeighbours finds the return address of code in memory of no file that shares one frame with the
// code around it, as the code that Guile makes does: one routine sets the frame up and jumps there,
// another one takes it down. The code from PC on may not lead to that way out. But the functions
// behind it jump there. The way out counts if it leads to a return address whose call may have led
// to THIS, in a caller whose tables lead to a call of the caller. If several ways out count, none
// does. The row is a guess.
func (s *Sniffer) byNeighbours(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	if a.JumpsAway == nil || q.Modules.Find(q.PC) != nil || !q.CountSearched(neighbours/readTogether) {
		return row, false
	}
	code := make([]byte, neighbours)
	n, _ := q.Memory.ReadMemory(q.PC, code)
	targets, steps := a.JumpsAway(code[:n], q.PC)
	q.CountSearched(steps)
	slices.Sort(targets)
	targets = slices.Compact(targets)
	for _, to := range targets[:min(len(targets), maxShared)] {
		if !q.Modules.IsCode(to) || !q.CountSearched(maxEpilogue/readOver) {
			continue
		}
		way, out := a.ReadEpilogue(q.Read(to, maxEpilogue), to)
		if out&arch.TearsDown == 0 || out&arch.ByJump != 0 || way.Flags&trad.Guess != 0 || !s.calledOutward(q, &way) {
			continue
		}
		if ok && way.CFA != row.CFA {
			return trad.Row{}, false
		}
		row, ok = way, true
		row.Lo, row.Len = q.PC, 1
		row.Flags |= trad.Guess
	}
	return row, ok
}
