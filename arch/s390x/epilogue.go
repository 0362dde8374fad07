package s390x

import (
	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/trad"
)

// maxEpilogue is how many instructions an epilogue has at most.
const maxEpilogue = 24

// An unwinding follows an epilogue from the pc on. Addresses are relative to
// what registers hold at the pc.
type unwinding struct {
	base  trad.Reg // r15 is base+off, unless it has been loaded
	off   int32
	done  bool             // r15 has been loaded, or moved up
	sp    trad.Rule        // from where r15 has been loaded: SavedAt, or InReg for a floating-point register
	saved [nRegs]trad.Rule // by register; NotTracked where it has its caller's value at the pc
	any   bool             // some of them are set
	wrote uint32           // registers, of those that calls may change, that have got other values on the way
}

// readEpilogue implements arch.Arch.ReadEpilogue. Instructions that only restore
// registers and the stack pointer, ending with a return, prove where the return
// address is, so the row is certain. A jump may stay in the function: it ends an
// epilogue only where the stack pointer has been restored, and where that has
// not been loaded together with the link register, the row is a guess.
//
// A linkage stub, which has no frame, counts as one.
func readEpilogue(code []byte, pc uint64) (row trad.Row, ok bool) { return toReturn(code, pc, false) }

// readReturn implements arch.Arch.ReadReturn.
func readReturn(code []byte, pc uint64) (row trad.Row, ok bool) { return toReturn(code, pc, true) }

// toReturn follows the code from pc to a return. Unless it has begun already, an epilogue
// begins with an instruction that takes something down.
func toReturn(code []byte, pc uint64, begun bool) (row trad.Row, ok bool) {
	u := unwinding{base: R15}
	at := 0
	for range maxEpilogue {
		if at >= len(code) {
			return trad.Row{}, false
		}
		o := decode(code, at)
		if at == 0 {
			row.Lo, row.Len = pc, uint32(o.len)
			if o.kind != opBad && inStub(code) {
				return u.row(row), true
			}
		}
		at += int(o.len)
		switch {
		case u.step(&o):
		case o.nop:
		case o.harmless() && (begun || u.any || u.done):
			u.wrote |= o.kill | bit(o.dst)
		case begun && o.kind == opStore && o.base != R15 && o.base != R11 && o.base != noReg:
		case (o.kind == opJumpReg || o.kind == opMaybeReg) && o.src == R14 && u.plausible():
			return u.row(row), true
		case (o.kind == opJumpReg || o.kind == opJump || o.kind == opJumpAway) && (begun || u.done):
			if begun || u.sp.Kind == trad.NotTracked || u.saved[R14].Kind == trad.NotTracked {
				row.Flags |= trad.Guess
			}
			return u.row(row), true
		default:
			return trad.Row{}, false
		}
	}
	return trad.Row{}, false
}

// plausible reports whether a return may follow: what has been restored came
// from a frame that is gone now, or from registers.
func (u *unwinding) plausible() bool {
	if u.done {
		return true
	}
	for r := range u.saved {
		if u.saved[r].Kind == trad.SavedAt && r < int(F0) {
			return false
		}
	}
	return true
}

// step executes an instruction that restores something; ok is false where it is
// none.
func (u *unwinding) step(o *op) (ok bool) {
	switch o.kind {
	case opLoads:
		base, off, ok := u.address(o.base, o.imm)
		if !ok {
			return false
		}
		for r := o.dst; ; r, off = (r+1)&15, off+8 {
			if tracked&bit(r) != 0 && !u.restore(r, trad.Rule{Kind: trad.SavedAt, Reg: base, Off: off}) {
				return false
			}
			if r == o.last {
				return true
			}
		}
	case opLoad:
		base, off, ok := u.address(o.base, o.imm)
		return ok && tracked&bit(o.dst) != 0 && u.restore(o.dst, trad.Rule{Kind: trad.SavedAt, Reg: base, Off: off})
	case opMove:
		switch {
		case o.src >= F0 && o.src <= F15 && o.dst < F0 && tracked&bit(o.dst) != 0 && u.wrote&bit(o.src) == 0:
			return u.restore(o.dst, trad.Rule{Kind: trad.InReg, Reg: o.src})
		case o.dst == R15 && o.src == R11:
			return u.rebase(0)
		}
	case opLea:
		switch {
		case o.dst != R15 || o.src != noReg || u.sp.Kind != trad.NotTracked:
		case o.base == R15 && o.imm > 0 && u.off < 1<<30:
			u.off += o.imm
			u.done = true
			return true
		case o.base == R11:
			return u.rebase(o.imm)
		}
	}
	return false
}

// address translates one of the frame to one from a register at the pc.
func (u *unwinding) address(base trad.Reg, imm int32) (r trad.Reg, off int32, ok bool) {
	switch {
	case base == R15 && u.sp.Kind == trad.NotTracked:
		return u.base, u.off + imm, u.off < 1<<30
	case base == R11 && u.saved[R11].Kind == trad.NotTracked:
		return R11, imm, true
	}
	return 0, 0, false
}

// rebase gives r15 the value r11+n.
func (u *unwinding) rebase(n int32) (ok bool) {
	if u.saved[R11].Kind != trad.NotTracked || u.sp.Kind != trad.NotTracked || u.done {
		return false
	}
	u.base, u.off, u.done = R11, n, true
	return true
}

// restore notes where the caller's value of a register is; ok is false where the
// register has it already.
func (u *unwinding) restore(r trad.Reg, from trad.Rule) (ok bool) {
	if r == R15 {
		if u.sp.Kind != trad.NotTracked {
			return false
		}
		u.sp, u.done = from, true
		return true
	}
	if u.saved[r].Kind != trad.NotTracked {
		return false
	}
	u.saved[r], u.any = from, true
	return true
}

// row completes the row. What the epilogue does not restore has its caller's
// value already.
func (u *unwinding) row(row trad.Row) trad.Row {
	row.Flags |= trad.InPrologue
	rest := values.Unchanged
	switch u.sp.Kind {
	case trad.InReg:
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: u.sp.Reg, Off: saveArea}
	case trad.SavedAt:
		// Where the slot is in the frame depends on the ABI's variant, so that only
		// what is in it is certain.
		row.CFA = trad.Rule{Kind: trad.ValExpr}
		rest = &trad.Rest{Unlisted: trad.Same, Exprs: []trad.Expression{savedSP{u.sp.Reg, u.sp.Off}}}
	default:
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: u.base, Off: u.off + saveArea}
	}
	row.RA, row.FP = u.rule(R14), u.rule(R11)
	var regs []trad.RegRule
	for _, r := range preserved {
		if u.saved[r].Kind != trad.NotTracked {
			regs = append(regs, trad.RegRule{Reg: r, Rule: u.saved[r]})
		}
	}
	if regs != nil {
		if rest == values.Unchanged {
			rest = &trad.Rest{Unlisted: trad.Same}
		}
		rest.Regs = regs
	}
	row.More = rest
	return row
}

func (u *unwinding) rule(r trad.Reg) trad.Rule {
	if u.saved[r].Kind == trad.NotTracked {
		return trad.Rule{Kind: trad.Same}
	}
	return u.saved[r]
}
