package x86

import "github.com/sfwalk/sfwalk/arch/dataflow"

// Apart implements dataflow.Machine.Apart: a cold part that was split off begins with a lone nop,
// for the exception tables' sake; functions begin with none, or with several for patching.
func Apart(code []byte) bool { return len(code) > 1 && code[0] == 0x90 && code[1] != 0x90 }

// Spares implements dataflow.Machine.Spares: the routine that touches pages preserves the frame's
// size in ax, which what stands behind the call subtracts.
func (d *Decoder) Spares(a *dataflow.Analysis, s *dataflow.State, next int32) bool {
	_, ops := a.Peek(next)
	ax, sp := d.number[numberAX], d.number[numberSP]
	if len(ops) != 1 || ops[0].Kind != dataflow.Minus || ops[0].Dst != sp || ops[0].Index != ax {
		return false
	}
	_, ok := s.Reg(ax).Number()
	return ok
}
