package amd64

import (
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// maxEpilogue is how many instructions an epilogue has at most.
const maxEpilogue = 24

// readEpilogue implements arch.Arch.ReadEpilogue. Instructions that only restore
// registers and move the stack pointer up, ending with a return, prove where the
// return address is, so the row is certain. A jump may stay in the function: it
// ends an epilogue only behind the pop of a register that calls preserve, or
// behind leave, and then the row is a guess.
func readEpilogue(code []byte, pc uint64) (row trad.Row, ok bool) { return toReturn(code, pc, false) }

// readReturn implements arch.Arch.ReadReturn.
func readReturn(code []byte, pc uint64) (row trad.Row, ok bool) { return toReturn(code, pc, true) }

// toReturn follows the code from pc to a return. Unless it has begun already, an epilogue
// begins with an instruction that takes something down.
func toReturn(code []byte, pc uint64, begun bool) (row trad.Row, ok bool) {
	// rsp and rbp on the way, as distances from what they are at pc.
	sp, base := int32(0), RSP
	var saved [nRegs]bool
	var slots [nRegs]int32
	restored := false
	restore := func(r trad.Reg, off int32) {
		if int(r) < nRegs && calleeOK&(1<<r) != 0 {
			saved[r], slots[r], restored = true, off, true
		}
	}
	at := 0
	for range maxEpilogue {
		if at >= len(code) || sp < 0 || sp > 1<<30 {
			return trad.Row{}, false
		}
		o := decode(code, at)
		if at == 0 {
			row.Lo, row.Len = pc, uint32(o.len)
		}
		at += int(o.len)
		switch {
		case o.kind == opPop && o.dst != RSP && (o.dst == noReg || !saved[o.dst]):
			restore(o.dst, sp)
			sp += 8
		case o.kind == opAdd && o.dst == RSP && o.imm > 0,
			o.kind == opLea && o.dst == RSP && o.base == RSP && o.imm > 0:
			sp += o.imm
		case o.kind == opMove && o.dst == RSP && o.src == RBP && base == RSP && !saved[RBP],
			o.kind == opLea && o.dst == RSP && o.base == RBP && base == RSP && !saved[RBP],
			o.kind == opLeave && base == RSP && !saved[RBP]:
			if restored {
				return trad.Row{}, false // slots found so far are relative to rsp
			}
			base, sp = RBP, 0
			if o.kind == opLea {
				sp = o.imm
			}
			if o.kind == opLeave {
				restore(RBP, 0)
				sp = 8
			}
		case o.kind == opLoad && o.base == RSP && o.dst != RSP && calleeOK&(1<<o.dst) != 0 && !saved[o.dst]:
			restore(o.dst, sp+o.imm)
		case o.nop, o.kind == opOther && o.len == 3 && code[at-3] == 0xc5 && code[at-1] == 0x77: // vzeroupper
		case o.harmless() && (begun || restored || sp > 0 || base != RSP):
		case begun && o.kind == opStore && o.base != RSP && o.base != RBP && o.base != noReg:
		case o.kind == opReturn:
			return endEpilogue(row, base, sp, &saved, &slots), true
		case (o.kind == opJump || o.kind == opJumpAway) && (begun || restored):
			row.Flags |= trad.Guess
			return endEpilogue(row, base, sp, &saved, &slots), true
		default:
			return trad.Row{}, false
		}
	}
	return trad.Row{}, false
}

// endEpilogue makes the row: the return address is sp bytes above register base.
// What the epilogue does not restore has its caller's value already.
func endEpilogue(row trad.Row, base trad.Reg, sp int32, saved *[nRegs]bool, slots *[nRegs]int32) trad.Row {
	row.Flags |= trad.InPrologue
	row.CFA = trad.Rule{Kind: trad.InReg, Reg: base, Off: sp + 8}
	row.RA = trad.Rule{Kind: trad.Saved, Off: -8}
	row.FP = trad.Rule{Kind: trad.Same}
	row.More = values.Unchanged
	var regs []trad.RegRule
	for r, is := range saved {
		if !is {
			continue
		}
		rule := trad.Rule{Kind: trad.Saved, Off: slots[r] - (sp + 8)}
		if trad.Reg(r) == RBP {
			row.FP = rule
		} else {
			regs = append(regs, trad.RegRule{Reg: trad.Reg(r), Rule: rule})
		}
	}
	if regs != nil {
		row.More = &trad.Rest{Regs: regs, Unlisted: trad.Same}
	}
	return row
}
