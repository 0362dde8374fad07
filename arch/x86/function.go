package x86

import "github.com/sfwalk/sfwalk/arch/values"

// Apart implements values.Machine.Apart: a cold part that was split off begins with a lone nop,
// for the exception tables' sake; functions begin with none, or with several for patching.
func Apart(code []byte) bool { return len(code) > 1 && code[0] == 0x90 && code[1] != 0x90 }

// Probes implements values.Machine.Probes: the routine preserves the frame's size in ax, which
// what stands behind the call subtracts.
func (d *Decoder) Probes(s *values.State, next []values.Op) bool {
	ax, sp := d.number[numberAX], d.number[numberSP]
	if len(next) != 1 || next[0].Kind != values.Minus || next[0].Dst != sp || next[0].Index != ax {
		return false
	}
	_, ok := s.Reg(ax).Number()
	return ok
}
