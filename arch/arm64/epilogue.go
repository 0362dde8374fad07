package arm64

import (
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// maxEpilogue is how many instructions an epilogue has at most.
const maxEpilogue = 24

// An unwinding follows an epilogue from the pc on. Addresses are relative to what
// registers hold at the pc.
type unwinding struct {
	base  reg // sp is base+off
	off   int32
	done  bool             // sp has been moved up, or was up already
	saved [nRegs]trad.Rule // by register; NotTracked where it has its caller's value at the pc
	any   bool             // some of them are set
	wrote uint64           // registers, of those that calls may change, that have got other values on the way
	auth  bool             // x30 is authenticated on the way
}

// readEpilogue implements arch.Arch.ReadEpilogue. Instructions that only restore
// registers and the stack pointer, ending with a return, prove where the return
// address is, so the row is certain. A jump may stay in the function: it ends an
// epilogue only where the stack pointer has been restored, and where the link
// register has not been, the row is a guess.
//
// A linkage stub, which has no frame, counts as one.
func readEpilogue(code []byte, pc uint64) (row trad.Row, ok bool) { return toReturn(code, pc, false) }

// readReturn implements arch.Arch.ReadReturn.
func readReturn(code []byte, pc uint64) (row trad.Row, ok bool) { return toReturn(code, pc, true) }

// toReturn follows the code from pc to a return. Unless it has begun already, an epilogue
// begins with an instruction that takes something down.
func toReturn(code []byte, pc uint64, begun bool) (row trad.Row, ok bool) {
	row.Lo, row.Len = pc, size
	if inStub(code) {
		return (&unwinding{base: rsp}).row(row), true
	}
	u := unwinding{base: rsp}
	for at := 0; at < maxEpilogue*size && at+size <= len(code); at += size {
		o := decode(code, at)
		switch {
		case u.step(&o):
		case o.nop:
		case o.harmless() && (begun || u.any || u.done):
			u.wrote |= o.kill | bit(o.dst) | bit(o.dst2)
		case begun && o.kind == opStore && o.base < x29 && o.writeback == 0:
		case o.kind == opJumpReg && o.link && o.src == x30:
			return u.row(row), u.done || !u.any
		case (o.kind == opJump || o.kind == opJumpReg) && (begun || u.done):
			if begun || u.saved[x30].Kind == trad.NotTracked {
				row.Flags |= trad.Guess
			}
			return u.row(row), true
		default:
			return trad.Row{}, false
		}
	}
	return trad.Row{}, false
}

// step executes an instruction that restores something; ok is false where it is
// none.
func (u *unwinding) step(o *op) (ok bool) {
	switch o.kind {
	case opLoad:
		base, off, ok := u.address(o.base, o.imm)
		if !ok || o.width != 8 || o.pre || o.writeback < 0 || o.writeback != 0 && o.base != rsp {
			return false
		}
		for i, r := range [...]reg{o.dst, o.dst2} {
			if r == noReg {
				continue
			}
			if tracked&bit(r) == 0 || u.saved[r].Kind != trad.NotTracked {
				return false
			}
			u.saved[r] = trad.Rule{Kind: trad.SavedAt, Reg: dwarf(base), Off: off + int32(8*i)}
			u.any = true
		}
		if o.writeback != 0 {
			u.off += o.writeback
			u.done = true
		}
		return true
	case opMove:
		if o.src >= v0 && o.dst < rsp && u.wrote&bit(o.src) == 0 && tracked&bit(o.dst) != 0 && u.saved[o.dst].Kind == trad.NotTracked {
			u.saved[o.dst] = trad.Rule{Kind: trad.InReg, Reg: dwarf(o.src)}
			return true
		}
	case opLea:
		switch {
		case o.dst != rsp || o.src != noReg || u.off > 1<<30:
		case o.base == rsp && o.imm > 0:
			u.off += o.imm
			u.done = true
			return true
		case o.base == x29 && u.saved[x29].Kind == trad.NotTracked && u.base == rsp && !u.done:
			u.base, u.off = x29, o.imm
			return true
		}
	case opSign:
		if u.auth {
			return false
		}
		u.auth = true
		return true
	}
	return false
}

// address translates one of the frame to one from a register at the pc.
func (u *unwinding) address(base reg, imm int32) (r reg, off int32, ok bool) {
	switch {
	case base == rsp:
		return u.base, u.off + imm, u.off < 1<<30
	case base == x29 && u.saved[x29].Kind == trad.NotTracked:
		return x29, imm, true
	}
	return 0, 0, false
}

// row completes the row. What the epilogue does not restore has its caller's
// value already.
func (u *unwinding) row(row trad.Row) trad.Row {
	row.Flags |= trad.InPrologue
	if u.auth {
		row.Flags |= trad.MangledRA
	}
	row.CFA = trad.Rule{Kind: trad.InReg, Reg: dwarf(u.base), Off: u.off}
	row.RA, row.FP = u.rule(x30), u.rule(x29)
	var regs []trad.RegRule
	for _, r := range preserved {
		if u.saved[r].Kind != trad.NotTracked {
			regs = append(regs, trad.RegRule{Reg: dwarf(r), Rule: u.saved[r]})
		}
	}
	row.More = values.Unchanged
	if regs != nil {
		row.More = &trad.Rest{Regs: regs, Unlisted: trad.Same}
	}
	return row
}

func (u *unwinding) rule(r reg) trad.Rule {
	if u.saved[r].Kind == trad.NotTracked {
		return trad.Rule{Kind: trad.Same}
	}
	return u.saved[r]
}
