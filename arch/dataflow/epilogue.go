package dataflow

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	maxEpilogue = 24      // instructions that an epilogue has at most
	maxFrame    = 3 << 29 // bytes that a frame has at most
)

// An unwinding follows an epilogue from the pc on. Addresses are relative to what registers
// hold at the pc.
type unwinding struct {
	m     *Machine
	base  Reg // the stack pointer is base+off, unless it has been loaded
	off   int32
	done  bool               // the stack pointer has been moved up, or loaded
	sp    trad.Rule          // from where it has been loaded: SavedAt, or InReg for another register
	above int32              // the stack pointer minus sp, bytes
	args  trad.Rule          // where m.Arguments has been loaded from; NotTracked if it has its value at the pc
	saved [MaxRegs]trad.Rule // by register; NotTracked if it has its caller's value at the pc
	any   bool               // some of them are set
	wrote Set                // registers that calls may change and that have got other values on the way
	auth  bool               // the return address is authenticated on the way
	temp  struct {
		base Reg
		off  int32
	} // of Temp
}

// ReadEpilogue implements arch.Arch.ReadEpilogue. Instructions that only restore registers and
// move the stack pointer up, ending with a return, prove where the return address is, so the
// row is certain. A jump may stay in the function: it ends an epilogue only where the stack
// pointer has been restored (a register, where code moves the stack pointer in the body,
// too); and unless what has been loaded shows that it goes elsewhere, the row is a guess.
//
// A linkage stub that has no frame counts as one.
func (m *Machine) ReadEpilogue(code []byte, pc uint64) (row trad.Row, out arch.WayOut) {
	row, out, _ = m.wayOut(code, pc)
	return row, out
}

// InEpilogue implements arch.Arch.InEpilogue. It looks for a way out that begins at or before pc
// with an instruction that takes something down, and that comes to pc.
func (m *Machine) InEpilogue(code []byte, start, pc uint64) bool {
	off := int(min(pc-start, uint64(len(code))))
	if pc < start || off == len(code) {
		return false
	}
	if _, out, _ := m.wayOut(code[off:], pc); out == 0 || out&arch.TearsDown != 0 {
		return out != 0
	}
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	var before [maxEpilogue]int // offsets of the instructions before pc, from where control last went elsewhere
	n, at := 0, 0
	for ops := *room; at < off; {
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		before[n%maxEpilogue] = at
		if n++; in.Flow != Next {
			n = 0
		}
		at += int(in.Len)
	}
	for i := max(0, n-maxEpilogue); i < n && at == off; i++ {
		from := before[i%maxEpilogue]
		if _, out, length := m.wayOut(code[from:], 0); out&arch.TearsDown != 0 && from+length > off {
			return true
		}
	}
	return false
}

// wayOut follows straight code from pc to a return or a jump. length is how many bytes that
// takes, with the return or the jump.
func (m *Machine) wayOut(code []byte, pc uint64) (row trad.Row, out arch.WayOut, length int) {
	u := unwinding{m: m, base: m.SP}
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops := *room
	out = arch.Leaves | arch.TearsDown
	for range maxEpilogue {
		if length >= len(code) {
			break
		}
		var in Inst
		in, ops = m.Decode(code, length, ops[:0])
		if length == 0 {
			row.Lo, row.Len = pc, uint32(in.Len)
			if in.Flow != Bad && m.InStub != nil && m.InStub(code) {
				return u.row(row), out, int(in.Len)
			}
		}
		if length += int(in.Len); length > len(code) {
			break
		}
		if in.Return && len(ops) > 0 && !u.step(&in, ops) { // pop {r4, pc}
			return trad.Row{}, 0, 0
		}
		switch {
		case in.Nop:
		case in.Flow == Next && harmless(&in, ops, m.wanted()):
			if !u.any && !u.done {
				out = arch.Leaves
			}
			u.writes(&in, ops)
		case in.Flow == Next && u.step(&in, ops):
		case in.Flow == Next && u.storesElsewhere(&in, ops):
			out = arch.Leaves
		case (in.Flow == To || in.Flow == MaybeTo) && in.Return && u.plausible():
			return u.row(row), out, length
		case in.Flow == Away && len(ops) > 0 && !u.step(&in, ops): // a return whose address was replaced
			return trad.Row{}, 0, 0
		case in.Flow == Jump || in.Flow == To || in.Flow == Away:
			if !u.takenDown() || !u.plausible() {
				out = arch.Leaves
			}
			// The frame may have been left before pc, and what is restored be in the save area.
			if !u.plausible() && m.SaveArea == 0 {
				return trad.Row{}, 0, 0
			}
			if out&arch.TearsDown == 0 || u.saved[m.RA].Kind == trad.NotTracked || m.Unloaded.Has(m.SP) && u.sp.Kind == trad.NotTracked {
				row.Flags |= trad.Guess
			}
			return u.row(row), out | arch.ByJump, length
		default:
			return trad.Row{}, 0, 0
		}
	}
	return trad.Row{}, 0, 0
}

// storesElsewhere reports whether an instruction does nothing but store by a base that is no
// pointer into the frame. What it exchanges with memory is lost.
func (u *unwinding) storesElsewhere(in *Inst, ops []Op) bool {
	m := u.m
	for i := range ops {
		o := &ops[i]
		if o.Kind != Store || o.Base == m.SP || o.Base == m.FP || o.Base == None || o.Index != None {
			return false
		}
	}
	lost := in.Kill & m.wanted()
	if len(ops) == 0 || lost&(m.SP.Bit()|m.FP.Bit()|m.RA.Bit()) != 0 {
		return false
	}
	for r := range u.saved {
		if lost.Has(Reg(r)) && u.saved[r].Kind == trad.NotTracked {
			u.saved[r].Kind = trad.Undefined
		}
	}
	return true
}

// takenDown reports whether a jump may end the epilogue now. Where code moves the stack pointer
// in the body, too, only a restored register tells.
func (u *unwinding) takenDown() bool {
	if u.m.Moving {
		return u.any
	}
	return u.done
}

// plausible reports whether the function may be left now: what has been restored came from a
// frame that is gone, or from registers. Where a call pushes the return address, that is at the
// stack pointer now, whatever has been restored.
func (u *unwinding) plausible() bool {
	if u.done || u.m.pushes() {
		return true
	}
	for r, rule := range u.saved {
		if rule.Kind == trad.SavedAt && !u.m.Floats.Has(Reg(r)) {
			return false
		}
	}
	return true
}

// writes notes which registers a harmless instruction writes.
func (u *unwinding) writes(in *Inst, ops []Op) {
	wrote := in.Kill
	for i := range ops {
		wrote |= ops[i].Dst.Bit()
	}
	u.lose(wrote)
}

// lose notes that the registers in wrote have unknown values.
func (u *unwinding) lose(wrote Set) {
	u.wrote |= wrote
	if u.m.Arguments != None && wrote.Has(u.m.Arguments) {
		u.args.Kind = trad.Undefined
	}
}

// step executes an instruction that restores something; ok is false where it is none.
func (u *unwinding) step(in *Inst, ops []Op) (ok bool) {
	if in.Kill&u.m.wanted() != 0 || len(ops) == 0 {
		return false
	}
	u.lose(in.Kill)
	for i := range ops {
		if !u.do(&ops[i]) {
			return false
		}
	}
	return true
}

// do executes a micro-operation; ok is false for what is in no epilogue.
func (u *unwinding) do(o *Op) (ok bool) {
	m := u.m
	switch o.Kind {
	case Sum:
		switch {
		case o.Index != None || o.Base == None:
		case o.Dst == Temp:
			u.temp.base, u.temp.off, ok = u.address(o.Base, o.Imm)
			return ok
		case o.Dst == m.SP && o.Base == m.SP:
			// Bytes within an instruction may read as inc %esp.
			if o.Imm <= 0 || o.Imm%int32(m.Word) != 0 || u.sp.Kind != trad.NotTracked {
				return false
			}
			u.off, ok = u.plus(o.Imm)
			u.done = true
			return ok
		case o.Dst == m.SP && o.Base == m.FP:
			if u.base != m.SP || u.done || u.saved[m.FP].Kind != trad.NotTracked {
				return false
			}
			u.base, u.off, u.done = m.FP, o.Imm, true
			return true
		case o.Dst == m.SP && o.Base == m.Arguments:
			if u.sp.Kind != trad.NotTracked || u.args.Kind == trad.Undefined {
				return false
			}
			if u.sp = u.args; u.sp.Kind == trad.NotTracked {
				u.sp = trad.Rule{Kind: trad.InReg, Reg: m.DWARF(o.Base)}
			}
			u.above, u.done = o.Imm, true
			return true
		case o.Imm == 0 && m.Floats.Has(o.Base) && !m.Floats.Has(o.Dst) && !u.wrote.Has(o.Base):
			return u.restore(o.Dst, trad.Rule{Kind: trad.InReg, Reg: m.DWARF(o.Base)})
		}
	case Load:
		base, off, ok := u.address(o.Base, o.Imm)
		if !ok || o.Width != m.Word {
			return false
		}
		return u.restore(o.Dst, trad.Rule{Kind: trad.SavedAt, Reg: m.DWARF(base), Off: off})
	case Sign:
		if u.auth {
			return false
		}
		u.auth = true
		return true
	}
	return false
}

// address translates one of the frame to one from a register at the pc. Where the frame is
// left by the stack pointer, what is loaded by the frame pointer may be a variable.
func (u *unwinding) address(base Reg, imm int32) (r Reg, off int32, ok bool) {
	switch {
	case base == Temp:
		return u.temp.base, u.temp.off + imm, true
	case base == u.m.SP && u.sp.Kind == trad.NotTracked:
		off, ok = u.plus(imm)
		return u.base, off, ok
	case base == u.m.FP && !u.m.Moving && u.saved[base].Kind == trad.NotTracked:
		return base, imm, true
	}
	return 0, 0, false
}

// plus returns the distance n bytes above the stack pointer; ok is false where that is in no frame.
func (u *unwinding) plus(n int32) (off int32, ok bool) {
	sum := int64(u.off) + int64(n)
	return int32(sum), sum > -maxFrame && sum < maxFrame
}

// restore notes where the caller's value of a register is; ok is false where the register has
// it already.
func (u *unwinding) restore(r Reg, from trad.Rule) (ok bool) {
	switch {
	case r == u.m.SP:
		if !u.m.Unloaded.Has(r) || u.sp.Kind != trad.NotTracked {
			return false
		}
		u.sp, u.done = from, true
	case !u.m.wanted().Has(r):
		if u.wrote |= r.Bit(); r == u.m.Arguments {
			u.args = from
		}
	case u.saved[r].Kind != trad.NotTracked && u.saved[r].Kind != trad.Undefined:
		return false
	default:
		u.saved[r], u.any = from, true
	}
	return true
}

// row completes the row. What the epilogue does not restore has its caller's value already.
func (u *unwinding) row(row trad.Row) trad.Row {
	m := u.m
	row.Flags |= trad.InPrologue
	if u.auth {
		row.Flags |= trad.MangledRA
	}
	var exprs []trad.Expression
	switch u.sp.Kind {
	case trad.InReg:
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: u.sp.Reg, Off: u.above - m.EntrySP}
	case trad.SavedAt:
		// Where the slot is in the frame depends on the ABI's variant, or on how the frame is
		// realigned, so that only what is in it is certain.
		if row.CFA = u.sp; u.above != m.EntrySP {
			row.CFA = trad.Rule{Kind: trad.ValExpr}
			exprs = []trad.Expression{SavedSP{u.sp.Reg, u.sp.Off, u.above - m.EntrySP}}
		}
	default:
		row.CFA = trad.Rule{Kind: trad.InReg, Reg: m.DWARF(u.base), Off: u.off - m.EntrySP}
	}
	if row.RA = u.rule(m.RA, &row.CFA); m.pushes() {
		row.RA = trad.Rule{Kind: trad.Saved, Off: m.Pushed}
	}
	row.FP = u.rule(m.FP, &row.CFA)
	var regs []trad.RegRule
	others := m.Preserved &^ (m.SP.Bit() | m.FP.Bit())
	for r := range Reg(m.Regs) {
		if others.Has(r) && u.saved[r].Kind != trad.NotTracked {
			regs = append(regs, trad.RegRule{Reg: m.DWARF(r), Rule: u.rule(r, &row.CFA)})
		}
	}
	row.Others = Unchanged
	if regs != nil || exprs != nil {
		row.Others = &trad.OtherRules{Regs: regs, Default: trad.Same, Exprs: exprs}
	}
	return row
}

// rule returns the rule of a register, by the CFA where its place is at a known distance.
func (u *unwinding) rule(r Reg, cfa *trad.Rule) trad.Rule {
	switch rule := u.saved[r]; {
	case rule.Kind == trad.NotTracked:
		return trad.Rule{Kind: trad.Same}
	case rule.Kind == trad.SavedAt && cfa.Kind == trad.InReg && cfa.Reg == rule.Reg:
		return trad.Rule{Kind: trad.Saved, Off: rule.Off - cfa.Off}
	default:
		return rule
	}
}

// SavedSP is the expression of a CFA that is known by where PREVIOUS's stack pointer is saved:
// *(Reg+Off)+Add.
type SavedSP struct {
	Reg      trad.Reg
	Off, Add int32
}

// Eval implements trad.Expression.
func (x SavedSP) Eval(env trad.Env, _ uint64, _ bool) (uint64, error) {
	v, ok := env.Register(x.Reg)
	if !ok {
		return 0, fmt.Errorf("register %d: %w", x.Reg, trad.ErrUnavailable)
	}
	sp, err := env.Word(v + uint64(int64(x.Off)))
	return sp + uint64(int64(x.Add)), err
}

func (x SavedSP) String() string { return fmt.Sprintf("*(r%d%+d)%+d", x.Reg, x.Off, x.Add) }
