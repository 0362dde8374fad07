package fromelf

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/sfwalk/sfwalk/format/cfi"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

var (
	errNoCFA     = errors.New("a rule needs the CFA, which has none")
	errTooMany   = errors.New("too many registers, states or instructions")
	errEmpty     = errors.New("restores a state that was not remembered")
	errTruncated = errors.New("an instruction is cut off")
)

// run runs instructions, and notes each change as dump_syms does: also a rule that is set anew to
// what it was.
func (t *translator) run(cie *cfi.CIE, program []byte) error {
	c := dwarfdata.New(program, t.d.image.Order)
	s := &t.state
	data, code := cie.DataAlign, cie.CodeAlign
	for c.More() {
		if t.left--; t.left < 0 {
			return errTooMany
		}
		in, known := cfi.ReadInstruction(&c)
		var err error
		switch in.Op {
		case cfi.CFAAdvanceLoc, cfi.CFAAdvanceLoc1, cfi.CFAAdvanceLoc2, cfi.CFAAdvanceLoc4, cfi.CFAMIPSAdvanceLoc8:
			t.advance(in.Reg * code)
		case cfi.CFANop, cfi.CFANegateRAState, cfi.CFANegateRAStateWithPC, cfi.CFASetRAState, cfi.CFAGNUArgsSize:
		case cfi.CFADefCFA:
			t.setCFA(cfiRule{kind: inRegister, reg: in.Reg, off: int64(in.N)})
		case cfi.CFADefCFASF:
			t.setCFA(cfiRule{kind: inRegister, reg: in.Reg, off: int64(in.N) * data})
		case cfi.CFADefCFARegister:
			r := s.cfa
			if r.reg = in.Reg; r.kind == unset {
				r.kind = inRegister
			}
			t.setCFA(r)
		case cfi.CFADefCFAOffset:
			if in.Reg != 2*uint64(t.pointer) || !t.thunk() {
				err = t.cfaOffset(int64(in.Reg))
			}
		case cfi.CFADefCFAOffsetSF:
			err = t.cfaOffset(int64(in.Reg) * data)
		case cfi.CFADefCFAExpression:
			t.setCFA(cfiRule{kind: valExpr, expr: in.Expression(program)})
		case cfi.CFAUndefined:
			err = t.set(in.Reg, cfiRule{kind: undefined})
		case cfi.CFASameValue:
			err = t.set(in.Reg, cfiRule{kind: same})
		case cfi.CFAOffset, cfi.CFAOffsetExtended, cfi.CFAOffsetExtendedSF:
			err = t.offset(in.Reg, saved, int64(in.N)*data)
		case cfi.CFAGNUNegativeOffsetExtended:
			err = t.offset(in.Reg, saved, -int64(in.N)*data)
		case cfi.CFAValOffset, cfi.CFAValOffsetSF:
			err = t.offset(in.Reg, cfaPlus, int64(in.N)*data)
		case cfi.CFARegister:
			err = t.set(in.Reg, cfiRule{kind: inRegister, reg: in.N})
		case cfi.CFAExpression:
			err = t.set(in.Reg, cfiRule{kind: expression, expr: in.Expression(program)})
		case cfi.CFAValExpression:
			err = t.set(in.Reg, cfiRule{kind: valExpr, expr: in.Expression(program)})
		case cfi.CFARestore, cfi.CFARestoreExtended:
			err = t.restore(in.Reg)
		case cfi.CFARememberState:
			err = t.remember()
		case cfi.CFARestoreState:
			err = t.recall()
		default:
			known = false
		}
		switch {
		case err != nil:
			return err
		case c.Bad:
			return errTruncated
		case !known:
			return fmt.Errorf("%v: not known", in.Op)
		}
	}
	return nil
}

func (t *translator) advance(n uint64) {
	if n == 0 || t.inCIE {
		return
	}
	t.row(t.loc + n)
	t.before = t.loc
	t.loc += n
}

func (t *translator) setCFA(r cfiRule) {
	t.state.cfa = r
	t.handle(cfaColumn, &r)
}

func (t *translator) cfaOffset(off int64) error {
	r := t.state.cfa
	if r.kind == unset {
		return errNoCFA
	}
	r.off = off
	t.setCFA(r)
	return nil
}

// offset sets a rule that is relative to the CFA.
func (t *translator) offset(reg uint64, kind ruleKind, off int64) error {
	if t.state.cfa.kind == unset {
		return errNoCFA
	}
	return t.set(reg, cfiRule{kind: kind, off: off})
}

// set sets the rule of a register.
func (t *translator) set(reg uint64, r cfiRule) error {
	if reg > 1<<16 {
		return fmt.Errorf("register %d: not known", reg)
	}
	if old := t.state.find(reg); old != nil {
		*old = r
	} else if len(t.state.regs) >= maxColumns {
		return errTooMany
	} else {
		t.state.regs = append(t.state.regs, column{reg, r})
	}
	t.handle(int64(reg), &r)
	return nil
}

// restore sets the rule of a register to what the CIE's instructions set.
func (t *translator) restore(reg uint64) error {
	if t.inCIE {
		return errors.New("a CIE restores a rule")
	}
	if r := t.first.find(reg); r != nil {
		return t.set(reg, *r)
	}
	return t.set(reg, cfiRule{kind: same})
}

func (t *translator) remember() error {
	if t.depth >= maxSaved {
		return errTooMany
	}
	if t.depth == len(t.stack) {
		t.stack = append(t.stack, cfiState{})
	}
	t.state.copyTo(&t.stack[t.depth])
	t.depth++
	return nil
}

// recall goes back to the state that was remembered last, and notes the rules that differ.
func (t *translator) recall() error {
	if t.depth == 0 {
		return errEmpty
	}
	t.depth--
	old := &t.stack[t.depth]
	if t.state.cfa.kind != unset && old.cfa.kind == unset {
		return errNoCFA
	}
	if !t.state.cfa.equal(&old.cfa) {
		t.handle(cfaColumn, &old.cfa)
	}
	for i := range t.state.regs {
		now := &t.state.regs[i]
		if before := old.find(now.reg); before == nil {
			t.handle(int64(now.reg), &cfiRule{kind: same})
		} else if !before.equal(&now.rule) {
			t.handle(int64(now.reg), before)
		}
	}
	old.copyTo(&t.state)
	return nil
}

func appendInt(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) }
