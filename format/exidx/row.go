package exidx

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/trad"
)

// Registers by their DWARF numbers (AADWARF32, section 4.1). D0 to D15 are pairs of S0 to S31; D16
// has numbers of its own.
const (
	R11 trad.Reg = 11 // the cell FP of a row
	SP  trad.Reg = 13
	LR  trad.Reg = 14 // the cell RA of a row
	PC  trad.Reg = 15
	S0  trad.Reg = 64
	D0  trad.Reg = 256
)

// Row executes the instructions. The row says nothing of where it holds: Lo and Len are for the
// caller to set; and it is true only where a call has left the function. Its cell RA says where
// PREVIOUS's PC is, its cell FP where r11 is. The registers that no instruction pops are unchanged.
//
// The error is [ErrRefuse], or wraps [ErrMalformed], or [ErrUnsupported] for instructions that are
// not defined.
func (u *Unwind) Row() (trad.Row, error) {
	m := machine{vsp: place{reg: SP}}
	for at := 0; at < len(u.Code); {
		in, err := Decode(u.Code[at:])
		if err == nil && in.Kind != Finish {
			err = m.execute(in)
		}
		if err != nil {
			if e, ok := err.(*Error); ok {
				e.Addr = uint32(at)
			}
			return trad.Row{}, err
		}
		if in.Kind == Finish {
			break
		}
		at += in.Len
	}
	return m.row()
}

// place is an address: register reg of THIS frame plus off; or, if loaded, the word there plus
// then.
type place struct {
	reg    trad.Reg
	off    int32
	loaded bool
	then   int32
}

func (p place) plus(n int32) (place, error) {
	to := &p.off
	if p.loaded {
		to = &p.then
	}
	sum := int64(*to) + int64(n)
	if sum != int64(int32(sum)) {
		return p, malformed("instruction", 0, "the frame is too large")
	}
	*to = int32(sum)
	return p, nil
}

// machine is the virtual machine that executes the instructions (EHABI32, section 10.1).
type machine struct {
	vsp   place
	saved map[trad.Reg]place
}

func (m *machine) execute(in Instruction) (err error) {
	switch in.Kind {
	case Add:
		m.vsp, err = m.vsp.plus(in.Imm)
	case SetVSP:
		return m.set(in.Reg)
	case Pop:
		return m.pop(in.Mask)
	case PopVFP, PopVFPX:
		return m.doubles(in)
	case PopWMMX: // no register that is known here
		m.vsp, err = m.vsp.plus(8 * int32(in.Count))
	case PopWCGR:
		for r := range 4 {
			if in.Mask&(1<<r) != 0 && err == nil {
				m.vsp, err = m.vsp.plus(wordSize)
			}
		}
	case PopRAAuth: // the return address itself is not changed by its code
		m.vsp, err = m.vsp.plus(wordSize)
	case AuthVSP:
	case Refuse:
		return ErrRefuse
	default:
		return &Error{"instruction", 0, "it is not defined", ErrUnsupported}
	}
	return err
}

// set makes register r, with the value that it has by now, the virtual stack pointer.
func (m *machine) set(r trad.Reg) error {
	at, popped := m.saved[r]
	if !popped {
		m.vsp = place{reg: r}
		return nil
	}
	if at.loaded {
		return &Error{"instruction", 0, "the stack pointer is loaded through what was loaded", ErrUnsupported}
	}
	at.loaded = true
	m.vsp = at
	return nil
}

func (m *machine) pop(mask uint16) (err error) {
	for r := trad.Reg(0); r < 16; r++ {
		if mask&(1<<r) != 0 && err == nil {
			m.save(r)
			m.vsp, err = m.vsp.plus(wordSize)
		}
	}
	if err == nil && mask&(1<<SP) != 0 {
		err = m.set(SP) // it is not incremented again (section 10.3, remark c)
	}
	return err
}

func (m *machine) doubles(in Instruction) (err error) {
	for d := trad.Reg(in.First); d < trad.Reg(in.First)+trad.Reg(in.Count); d++ {
		if d >= 32 {
			return malformed("instruction", 0, "there are 32 double registers")
		}
		if d >= 16 {
			m.save(D0 + d)
		}
		for half := range trad.Reg(2) {
			if d < 16 {
				m.save(S0 + 2*d + half)
			}
			if m.vsp, err = m.vsp.plus(wordSize); err != nil {
				return err
			}
		}
	}
	if in.Kind == PopVFPX {
		m.vsp, err = m.vsp.plus(wordSize)
	}
	return err
}

func (m *machine) save(r trad.Reg) {
	if m.saved == nil {
		m.saved = map[trad.Reg]place{}
	}
	m.saved[r] = m.vsp
}

// row makes the row, when the virtual stack pointer is the CFA.
func (m *machine) row() (row trad.Row, err error) {
	others := &trad.OtherRules{Default: trad.Same}
	if row.CFA = (trad.Rule{Kind: trad.InReg, Reg: m.vsp.reg, Off: m.vsp.off}); m.vsp.loaded {
		row.CFA = m.loaded(others, m.vsp)
	}
	row.FP, row.RA = trad.Rule{Kind: trad.Same}, trad.Rule{Kind: trad.Same}
	ra := LR
	if _, popped := m.saved[PC]; popped {
		ra = PC
	}
	for r, at := range m.saved {
		rule, err := m.rule(others, at)
		if err != nil {
			return trad.Row{}, err
		}
		switch {
		case r == ra:
			row.RA = rule
		case r == R11:
			row.FP = rule
		case r != SP && r != LR && r != PC: // SP is the CFA; LR is lost where PC is popped beside it
			others.Regs = append(others.Regs, trad.RegRule{Reg: r, Rule: rule})
		}
	}
	slices.SortFunc(others.Regs, func(x, y trad.RegRule) int { return int(x.Reg) - int(y.Reg) })
	row.Others = others
	return row, nil
}

// rule returns the rule of a register that is saved at a place.
func (m *machine) rule(others *trad.OtherRules, at place) (trad.Rule, error) {
	switch {
	case at.reg == m.vsp.reg && at.loaded == m.vsp.loaded && (!at.loaded || at.off == m.vsp.off):
		n := int64(at.off) - int64(m.vsp.off) + int64(at.then) - int64(m.vsp.then)
		if n != int64(int32(n)) {
			return trad.Rule{}, malformed("instruction", 0, "the frame is too large")
		}
		return trad.Rule{Kind: trad.Saved, Off: int32(n)}, nil
	case at.loaded:
		rule := m.loaded(others, at)
		rule.Kind = trad.Expr
		return rule, nil
	}
	return trad.Rule{Kind: trad.SavedAt, Reg: at.reg, Off: at.off}, nil
}

// loaded returns a rule with the value of a loaded place.
func (m *machine) loaded(others *trad.OtherRules, at place) trad.Rule {
	others.Exprs = append(others.Exprs, indirect(at))
	return trad.Rule{Kind: trad.ValExpr, Off: int32(len(others.Exprs) - 1)}
}

// indirect is the word at a register plus a number, plus another.
type indirect place

// Eval implements [trad.Expression].
func (e indirect) Eval(env trad.Env, _ uint64, _ bool) (uint64, error) {
	v, ok := env.Register(e.reg)
	if !ok {
		return 0, fmt.Errorf("register %d: %w", e.reg, trad.ErrUnavailable)
	}
	word, err := env.Word(uint64(uint32(v) + uint32(e.off)))
	return uint64(uint32(word) + uint32(e.then)), err
}

func (e indirect) String() string { return fmt.Sprintf("[r%d%+d]%+d", e.reg, e.off, e.then) }
