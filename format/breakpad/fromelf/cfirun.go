package fromelf

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/sfwalk/sfwalk/format/cfi"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// Instructions of call frame information, DWARF 5 table 7.29, and GNU's.
const (
	cfaAdvanceLoc = 0x40
	cfaOffset     = 0x80
	cfaRestore    = 0xc0

	cfaNop                  = 0x00
	cfaAdvanceLoc1          = 0x02
	cfaAdvanceLoc2          = 0x03
	cfaAdvanceLoc4          = 0x04
	cfaOffsetExtended       = 0x05
	cfaRestoreExtended      = 0x06
	cfaUndefined            = 0x07
	cfaSameValue            = 0x08
	cfaRegister             = 0x09
	cfaRememberState        = 0x0a
	cfaRestoreState         = 0x0b
	cfaDefCFA               = 0x0c
	cfaDefCFARegister       = 0x0d
	cfaDefCFAOffset         = 0x0e
	cfaDefCFAExpr           = 0x0f
	cfaExpression           = 0x10
	cfaOffsetExtSF          = 0x11
	cfaDefCFASF             = 0x12
	cfaDefCFAOffsetSF       = 0x13
	cfaValOffset            = 0x14
	cfaValOffsetSF          = 0x15
	cfaValExpression        = 0x16
	cfaMIPSAdvanceLoc8      = 0x1d
	cfaSetRAState           = 0x2b // AArch64, as the next two
	cfaNegateRAStateWithPC  = 0x2c
	cfaNegateRAState        = 0x2d
	cfaGNUArgsSize          = 0x2e
	cfaGNUNegativeOffsetExt = 0x2f
)

var (
	errNoCFA     = errors.New("a rule needs the CFA, which has none")
	errTooMany   = errors.New("too many registers, states or instructions")
	errEmpty     = errors.New("restores a state that was not remembered")
	errTruncated = errors.New("an instruction is cut off")
)

// run runs instructions, and notes each change as dump_syms does: also a rule that is set anew to what it was.
func (t *translator) run(cie *cfi.CIE, program []byte) error {
	c := dwarfdata.New(program, t.d.image.Order)
	s := &t.state
	data, code := cie.DataAlign, cie.CodeAlign
	for c.More() {
		if t.left--; t.left < 0 {
			return errTooMany
		}
		op := c.U8()
		low := uint64(op & 0x3f)
		var err error
		switch op & 0xc0 {
		case cfaAdvanceLoc:
			t.advance(low * code)
		case cfaOffset:
			err = t.offset(low, saved, int64(c.ULEB128())*data)
		case cfaRestore:
			err = t.restore(low)
		default:
			switch op {
			case cfaNop, cfaNegateRAState, cfaNegateRAStateWithPC:
			case cfaSetRAState:
				c.ULEB128()
				c.SLEB128()
			case cfaAdvanceLoc1:
				t.advance(uint64(c.U8()) * code)
			case cfaAdvanceLoc2:
				t.advance(uint64(c.U16()) * code)
			case cfaAdvanceLoc4:
				t.advance(uint64(c.U32()) * code)
			case cfaMIPSAdvanceLoc8:
				t.advance(c.U64() * code)
			case cfaDefCFA:
				t.setCFA(cfiRule{kind: inRegister, reg: c.ULEB128(), off: int64(c.ULEB128())})
			case cfaDefCFASF:
				t.setCFA(cfiRule{kind: inRegister, reg: c.ULEB128(), off: c.SLEB128() * data})
			case cfaDefCFARegister:
				r := s.cfa
				r.reg = c.ULEB128()
				if r.kind == unset {
					r.kind = inRegister
				}
				t.setCFA(r)
			case cfaDefCFAOffset:
				if n := c.ULEB128(); n != 2*uint64(t.pointer) || !t.thunk() {
					err = t.cfaOffset(int64(n))
				}
			case cfaDefCFAOffsetSF:
				err = t.cfaOffset(c.SLEB128() * data)
			case cfaDefCFAExpr:
				t.setCFA(cfiRule{kind: valExpr, expr: c.Take(c.ULEB128())})
			case cfaUndefined:
				err = t.set(c.ULEB128(), cfiRule{kind: undefined})
			case cfaSameValue:
				err = t.set(c.ULEB128(), cfiRule{kind: same})
			case cfaOffsetExtended:
				err = t.offset(c.ULEB128(), saved, int64(c.ULEB128())*data)
			case cfaOffsetExtSF:
				err = t.offset(c.ULEB128(), saved, c.SLEB128()*data)
			case cfaGNUNegativeOffsetExt:
				err = t.offset(c.ULEB128(), saved, -int64(c.ULEB128())*data)
			case cfaValOffset:
				err = t.offset(c.ULEB128(), cfaPlus, int64(c.ULEB128())*data)
			case cfaValOffsetSF:
				err = t.offset(c.ULEB128(), cfaPlus, c.SLEB128()*data)
			case cfaRegister:
				err = t.set(c.ULEB128(), cfiRule{kind: inRegister, reg: c.ULEB128()})
			case cfaExpression:
				err = t.set(c.ULEB128(), cfiRule{kind: expression, expr: c.Take(c.ULEB128())})
			case cfaValExpression:
				err = t.set(c.ULEB128(), cfiRule{kind: valExpr, expr: c.Take(c.ULEB128())})
			case cfaRestoreExtended:
				err = t.restore(c.ULEB128())
			case cfaRememberState:
				err = t.remember()
			case cfaRestoreState:
				err = t.recall()
			case cfaGNUArgsSize:
				c.ULEB128()
			default:
				err = fmt.Errorf("instruction %#x: not known", op)
			}
		}
		if err == nil && c.Bad {
			err = errTruncated
		}
		if err != nil {
			return err
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
