package plugin

import (
	"errors"
	"fmt"
	"math"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/trad"
)

func (d *Description) message() *protocol.Description {
	m := &protocol.Description{
		Name: d.Name, Version: d.Version, Architectures: d.Architectures, Before: d.Before,
		Needs: &protocol.Needs{Stack: bounded(d.Needs.Stack), CodeBefore: bounded(d.Needs.CodeBefore), CodeAfter: bounded(d.Needs.CodeAfter)},
	}
	if c := d.Claims; c != nil {
		m.Claims = &protocol.Claims{OutsideModules: c.OutsideModules, Modules: c.Modules}
	}
	if x := d.Decorates; x != nil {
		m.Decorates = &protocol.Decorates{Language: x.Language, Modules: x.Modules, Tasks: x.Tasks}
		for _, r := range x.Registers {
			m.Decorates.Registers = append(m.Decorates.Registers, uint32(r))
		}
	}
	return m
}

func ranges(list []Range) []*protocol.Range {
	var to []*protocol.Range
	for _, r := range list {
		to = append(to, &protocol.Range{Lo: r.Lo, Hi: r.Hi})
	}
	return to
}

func (s *Symbol) message() *protocol.Symbol {
	if s == nil {
		return nil
	}
	return &protocol.Symbol{Lo: s.Lo, Hi: s.Hi, Function: s.Function, File: s.File, Line: uint32(max(s.Line, 0)), Start: s.Start}
}

func module(m *protocol.Module) *Module {
	if m == nil {
		return nil
	}
	to := &Module{Path: m.Path, Bias: m.Bias, BuildID: m.BuildId}
	for _, p := range m.Mappings {
		to.Mappings = append(to.Mappings, Mapping{Range{p.Lo, p.Hi}, p.Offset, p.Exec})
	}
	return to
}

func block(b *protocol.Block) Block { return Block{b.GetAddress(), b.GetData()} }

// fill fills in q from the host's question.
func (q *Query) fill(m *protocol.Question) error {
	*q = Query{
		Target: q.Target, PC: m.Pc, AddressInBlock: m.Block, Level: int(m.Level), Thread: int(m.Thread), NextCFA: m.NextCfa,
		Module: module(m.Module), Stack: block(m.Stack), Code: block(m.Code),
	}
	if len(m.Registers) != len(m.Values) {
		return fmt.Errorf("question: %d registers and %d values", len(m.Registers), len(m.Values))
	}
	for i, r := range m.Registers {
		if r < arch.MaxReg {
			q.Registers.Set(trad.Reg(r), m.Values[i])
		}
	}
	return nil
}

// message returns the answer's message. An error says what an answer cannot have.
func (a *Answer) message(number uint64, t *Target) (*protocol.Answer, error) {
	m := &protocol.Answer{Number: number, Declines: a.Why, DeclinesOnce: a.Once, Name: a.Name.message(), Never: ranges(a.Never)}
	for i := range a.Symbols {
		m.Symbols = append(m.Symbols, a.Symbols[i].message())
	}
	var err error
	for i := range a.More {
		row, err := rowMessage(&a.More[i])
		if err != nil {
			return nil, err
		}
		m.Rows = append(m.Rows, row)
	}
	switch {
	case a.Row != nil && a.Frame != nil:
		return nil, errors.New("an answer has a row or a frame, not both")
	case a.Why != "" && (a.Row != nil || a.Frame != nil):
		return nil, fmt.Errorf("an answer that claims does not decline as well: %s", a.Why)
	case a.Row != nil:
		m.Row, err = rowMessage(a.Row)
	case a.Frame != nil:
		m.Frame, err = a.Frame.message(t)
	case a.Why == "":
		m.Declines = "it does not say why"
	}
	return m, err
}

// frameType returns the frame type that flags say.
func frameType(flags trad.Flags) protocol.FrameType {
	switch {
	case flags&trad.OtherStack != 0:
		return protocol.FrameType_OTHER_STACK
	case flags&(trad.Signal|trad.Dummy|trad.Injected) != 0:
		return protocol.FrameType_SIGNAL
	}
	return protocol.FrameType_NORMAL
}

// frameKind returns what flags say beside the type.
func frameKind(flags trad.Flags) protocol.FrameKind {
	switch {
	case flags&trad.Dummy != 0:
		return protocol.FrameKind_DUMMY
	case flags&trad.Injected != 0:
		return protocol.FrameKind_INJECTED
	case flags&trad.Inline != 0:
		return protocol.FrameKind_INLINE
	case flags&trad.TailCall != 0:
		return protocol.FrameKind_TAIL_CALL
	}
	return protocol.FrameKind_AS_TYPE
}

func rowMessage(row *trad.Row) (*protocol.Row, error) {
	m := &protocol.Row{
		Lo: row.Lo, Hi: row.Lo + uint64(row.Len), Type: frameType(row.Flags), Kind: frameKind(row.Flags),
		Outermost: row.Flags&trad.Outermost != 0, Guess: row.Flags&trad.Guess != 0, Once: row.Flags&trad.Once != 0,
	}
	var errs [3]error
	m.Cfa, errs[0] = ruleMessage(row.CFA)
	m.Ra, errs[1] = ruleMessage(row.RA)
	m.Fp, errs[2] = ruleMessage(row.FP)
	err := errors.Join(errs[:]...)
	if more := row.Others; more != nil {
		m.OthersSame = more.Default == trad.Same
		for _, x := range more.Regs {
			rule, e := ruleMessage(x.Rule)
			err = errors.Join(err, e)
			m.Others = append(m.Others, &protocol.RegisterRule{Register: uint32(x.Reg), Rule: rule})
		}
	}
	if err != nil {
		return nil, fmt.Errorf("row [%#x, %#x): %w", m.Lo, m.Hi, err)
	}
	return m, nil
}

func ruleMessage(r trad.Rule) (*protocol.Rule, error) {
	if r.Kind > trad.InReg {
		return nil, fmt.Errorf("a rule of kind %d: a plug-in's row cannot have expressions; answer with a Frame", r.Kind)
	}
	if r.Kind == trad.NotTracked {
		return nil, nil
	}
	return &protocol.Rule{Kind: protocol.Rule_Kind(r.Kind), Register: uint32(r.Reg), Offset: r.Off}, nil
}

func (f *Frame) message(t *Target) (*protocol.Frame, error) {
	m := &protocol.Frame{
		Cfa: f.CFA, Function: f.Function, Type: frameType(f.Flags), Kind: frameKind(f.Flags), Special: f.Special, HasSpecial: f.HasSpecial,
		Outermost: f.Flags&trad.Outermost != 0, Guess: f.Flags&trad.Guess != 0,
	}
	if _, ok := f.Registers[t.PC]; !ok && !m.Outermost {
		return nil, fmt.Errorf("a frame without PREVIOUS's PC, register %d", t.PC)
	}
	for r, v := range f.Registers {
		rule := &protocol.Rule{Kind: protocol.Rule_VALUE_IS, Address: v.Bits}
		switch {
		case v.Lost:
			rule = &protocol.Rule{Kind: protocol.Rule_UNDEFINED}
		case v.InMemory:
			rule.Kind = protocol.Rule_SAVED_AT_IS
		}
		switch r {
		case t.PC:
			m.Pc = rule
		case t.SP:
			m.Sp = rule
		case t.FP:
			m.Fp = rule
		default:
			m.Others = append(m.Others, &protocol.RegisterRule{Register: uint32(r), Rule: rule})
		}
	}
	return m, nil
}

// bounded bounds n to the range of a message's field.
func bounded(n int) uint32 { return uint32(min(max(n, 0), math.MaxInt32)) }
