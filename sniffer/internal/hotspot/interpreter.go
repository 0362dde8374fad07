package hotspot

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/trad"
)

// interpreted returns the row of an interpreted frame. The return address is in its frame record.
// PREVIOUS's stack pointer is saved in the frame, because the interpreter has moved the return
// address to make room for local variables.
func (vm *machine) interpreted(q *frame.Query, r *vmstructs.Reader, lo, n uint64) (trad.Row, frame.Answer) {
	a := q.Arch
	word := int32(a.PtrSize)
	row := trad.Row{
		Lo: lo, Len: uint32(n),
		CFA:    trad.Rule{Kind: trad.InReg, Reg: a.FP, Off: a.FrameRecord},
		RA:     trad.Rule{Kind: trad.Saved, Off: -word},
		FP:     trad.Rule{Kind: trad.Saved, Off: -2 * word},
		Others: vm.interpretedOthers,
	}
	return vm.atCodelet(q, r, row)
}
