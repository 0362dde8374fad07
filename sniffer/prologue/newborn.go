package prologue

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// maxGap bounds the code, in bytes, that a C library leaves out of its tables around the system
// call that makes a thread. A row there that is true for the caller would be wrong for the new
// thread, which returns from the system call with a stack of its own.
const maxGap = 96

// newborn answers for a thread that has just been made. The system call has returned 0 to it, PC is
// in code that the tables leave out, and the table's row for the code behind that is outermost.
func (s *Sniffer) newborn(q *frame.Query) (row trad.Row, ok bool) {
	if !q.Innermost() || s.Rows == nil || q.Module == nil {
		return row, false
	}
	if v := q.This.Register(q.Arch.SystemResult); !v.Known() || v.Bits != 0 {
		return row, false
	}
	end := uint64(0)
	for _, before := range s.Before {
		if at, ok := before(q); ok {
			end = max(end, at)
		}
	}
	if end == 0 || q.PC-end > maxGap {
		return row, false
	}
	for pc := q.PC + 1; pc <= q.PC+maxGap; pc++ {
		for row := range s.Rows(q, pc) {
			if row.Lo != pc || row.Flags&trad.Outermost == 0 {
				break
			}
			row.Lo, row.Len, row.Flags = q.PC, 1, trad.Outermost|trad.Once
			return row, true
		}
	}
	return trad.Row{}, false
}
