package cfi

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/trad"
)

// maxInstructions bounds the instructions that one look-up runs. The largest functions need
// a few thousand.
const maxInstructions = 1 << 20

// machine runs the program of an FDE line by line (DWARF 5, section 6.4.3).
type machine struct {
	s      *Section
	fde    FDE
	c      reader
	at     int // offset of the current instruction in the data of c
	loc    uint64
	before uint64 // loc before the last advance
	lo, hi uint64 // range of the current line
	left   int    // instructions that may still be run
	cie    bool   // the initial instructions of the CIE are running
	// exchanged says that the entry has two registers' numbers the other way round; see
	// ABI.Exchanged.
	exchanged bool
	maybe     maybeThunk // of the current state
	states
}

// start runs the initial instructions of the CIE of m.fde.
func (m *machine) start(s *Section) error {
	m.s = s
	f := &m.fde
	if !s.has(f.CIE.program) || !s.has(f.program) {
		return fmt.Errorf("cfi: FDE at %#x is not of this section", f.Offset)
	}
	m.left = maxInstructions
	if !m.prepared() {
		m.cie = true
		if s.read(&m.c, f.CIE.program.from, f.CIE.program.to); m.c.Bad {
			return s.unread(f.CIE.Offset)
		}
		for m.c.More() {
			if err := m.step(); err != nil {
				return err
			}
		}
		m.findExchanged()
		m.prepare()
	}
	// DW_CFA_restore goes back to the bottom of the stack.
	m.depth = 0
	m.push()
	m.cie = false
	if s.read(&m.c, f.program.from, f.program.to); m.c.Bad {
		return s.unread(f.Offset)
	}
	m.loc, m.before, m.hi = f.Start, f.Start, f.Start
	return nil
}

// prepared is a CIE with the state after its initial instructions. Most sections have one or
// two CIEs, and most look-ups use the CIE of the look-up before.
type prepared struct {
	cie   CIE
	top   state
	rules [4]trad.RegRule
	left  int // instructions that may still run

	exchanged bool
}

// preparedAt returns the slot for the CIE at an offset.
func (s *Section) preparedAt(off int) *atomic.Pointer[prepared] {
	return &s.prepared[uint(off>>2^off>>5)%uint(len(s.prepared))]
}

// prepare keeps the state after the CIE's instructions for later look-ups, if the state is as
// simple as compilers make it.
func (m *machine) prepare() {
	if m.depth > 0 || m.top.from > 0 || m.top.n > len(prepared{}.rules) {
		return
	}
	p := &prepared{cie: m.fde.CIE, top: m.top, left: m.left, exchanged: m.exchanged}
	copy(p.rules[:], m.registers(&m.top))
	m.s.preparedAt(p.cie.Offset).Store(p)
}

// prepared makes the kept state the current one. It returns false if none is kept for m's CIE.
func (m *machine) prepared() bool {
	p := m.s.preparedAt(m.fde.CIE.Offset).Load()
	if p == nil || p.cie.Offset != m.fde.CIE.Offset || p.cie.program != m.fde.CIE.program {
		return false
	}
	m.top, m.left, m.exchanged = p.top, p.left, p.exchanged
	copy(m.allRules(), p.rules[:p.top.n])
	return true
}

// findExchanged notes, behind the instructions of a CIE, whether they have two registers the other
// way round.
func (m *machine) findExchanged() {
	of := m.s.exchange
	at := trad.Rule{Kind: trad.InReg, Reg: of[1], Off: int32(m.fde.CIE.PtrSize)}
	if m.exchanged = of[0] != of[1] && m.top.cfa == at && m.top.fp == (trad.Rule{}); m.exchanged {
		m.top.cfa.Reg = of[0]
	}
}

// number returns the number of the register that the entry calls reg.
func (m *machine) number(reg uint64) uint64 {
	if !m.exchanged && m.s.doubles == 0 {
		return reg
	}
	return m.otherNumber(reg)
}

//go:noinline // so that number is: most files need no more
func (m *machine) otherNumber(reg uint64) uint64 {
	if m.exchanged {
		return exchange(m.s.exchange, reg)
	}
	if n := reg - uint64(m.s.doubles); n < 16 && m.s.doubles != 0 {
		return uint64(m.s.halves) + 2*n
	}
	return reg
}

// exchange returns reg, or, of two numbers, the other one.
func exchange(of [2]trad.Reg, reg uint64) uint64 {
	switch reg {
	case uint64(of[0]):
		return uint64(of[1])
	case uint64(of[1]):
		return uint64(of[0])
	}
	return reg
}

// line runs the program to the end of the next line, whose range is [m.lo, m.hi).
// There is a next line as long as m.hi is not the end of the FDE.
func (m *machine) line() error {
	end := m.fde.Start + m.fde.Len
	m.lo = m.hi
	for m.c.More() {
		// A line may be over before it has begun: two advances in a row.
		if err := m.step(); err != nil {
			return err
		}
		if m.loc > m.lo {
			m.hi = min(m.loc, end)
			return nil
		}
	}
	m.hi = end
	return nil
}

// seek runs the program to the end of the line that holds for pc, an address in the FDE.
func (m *machine) seek(pc uint64) error {
	m.lo, m.hi = m.fde.Start, m.fde.Start+m.fde.Len
	for m.c.More() {
		if err := m.step(); err != nil {
			return err
		}
		if m.loc > pc {
			m.hi = min(m.loc, m.hi)
			return nil
		}
		m.lo = m.loc
	}
	return nil
}

// bottom is the depth of the stack of states at which restore_state fails.
func (m *machine) bottom() int {
	if m.cie {
		return 0
	}
	return 1
}

// step runs one instruction.
func (m *machine) step() error {
	c, s := &m.c, &m.top
	m.at = c.Off
	if m.left--; m.left < 0 {
		return m.fail(fmt.Sprintf("is beyond the limit of %d instructions", maxInstructions), ErrUnsupported)
	}
	if op := Op(c.Data[c.Off]); op&0xc0 == CFAAdvanceLoc && !m.cie { // half of all: to call for it would take as long as it does
		c.Off++
		if reason := m.advance(uint64(op & 0x3f)); reason != "" {
			return m.fail(reason, ErrMalformed)
		}
		return nil
	}
	in, known := ReadInstruction(&c.Reader)
	if !known {
		return m.fail("is unknown", ErrUnsupported)
	}
	reason := ""
	switch in.Op {
	case CFAAdvanceLoc:
		reason = m.advance(in.Reg)
	case CFAOffset:
		reason = m.offsetRule(in.Reg, trad.Saved, in.N)
	case CFARestore:
		m.restore(in.Reg)
	default:
		switch in.Op {
		case CFAAdvanceLoc1, CFAAdvanceLoc2, CFAAdvanceLoc4, CFAMIPSAdvanceLoc8:
			reason = m.advance(in.Reg)
		case CFAOffsetExtended:
			reason = m.offsetRule(in.Reg, trad.Saved, in.N)
		case CFARestoreExtended:
			m.restore(in.Reg)
		case CFANop, CFAGNUArgsSize: // the size of outgoing arguments is for exception handlers only
		case CFASetLoc:
			reason = m.setLoc()

		case CFADefCFA:
			reason = m.defCFA(in.Reg, in.N, 1)
		case CFADefCFASF:
			reason = m.defCFA(in.Reg, in.N, m.fde.CIE.DataAlign)
		case CFADefCFARegister:
			switch {
			case s.cfa.Kind == trad.ValExpr:
				reason = "the CFA is an expression, not a register and an offset"
			case in.Reg > math.MaxUint16:
				reason = "register number does not fit in 16 bits"
			default:
				s.cfa.Kind, s.cfa.Reg = trad.InReg, trad.Reg(m.number(in.Reg))
			}
		case CFADefCFAOffset:
			n, was := in.Reg, s.cfa.Off
			switch maybe := n == 2*uint64(m.s.ptrSize) && m.s.thunk != nil && m.loc-m.before >= minThunk; {
			case maybe && m.needThunk():
				m.settle()
				if !m.thunk() {
					reason = m.defCFAOffset(n, 1)
				}
			default:
				if reason = m.defCFAOffset(n, 1); maybe {
					m.maybe = maybeThunk{m.loc, was}
				}
			}
		case CFADefCFAOffsetSF:
			reason = m.defCFAOffset(in.Reg, m.fde.CIE.DataAlign)
		case CFADefCFAExpression:
			s.cfa, m.maybe.at = m.expression(trad.ValExpr, in.Block), 0

		case CFAUndefined:
			m.rule(in.Reg, trad.Rule{Kind: trad.Undefined})
		case CFASameValue:
			m.rule(in.Reg, trad.Rule{Kind: trad.Same})
		case CFAOffsetExtendedSF:
			reason = m.signedRule(in.Reg, trad.Saved, int64(in.N))
		case CFAValOffset:
			reason = m.offsetRule(in.Reg, trad.Value, in.N)
		case CFAValOffsetSF:
			reason = m.signedRule(in.Reg, trad.Value, int64(in.N))
		case CFAGNUNegativeOffsetExtended:
			if in.N > math.MaxInt64 {
				reason = tooFar
			} else {
				reason = m.signedRule(in.Reg, trad.Saved, -int64(in.N))
			}
		case CFARegister:
			if in.N > math.MaxUint16 {
				reason = "register number does not fit in 16 bits"
			} else {
				m.rule(in.Reg, trad.Rule{Kind: trad.InReg, Reg: trad.Reg(m.number(in.N))})
			}
		case CFAExpression:
			m.rule(in.Reg, m.expression(trad.Expr, in.Block))
		case CFAValExpression:
			m.rule(in.Reg, m.expression(trad.ValExpr, in.Block))

		case CFARememberState:
			if m.depth-m.bottom() >= maxSaved {
				return m.fail("state stack is full", ErrUnsupported)
			}
			m.settle()
			m.push()
		case CFARestoreState:
			if m.depth <= m.bottom() {
				reason = "state stack is empty"
			} else {
				m.pop()
				m.maybe.at = 0
			}

		case CFANegateRAState, CFANegateRAStateWithPC, CFASetRAState:
			if !m.s.pauth {
				return m.fail("is for another architecture", ErrUnsupported)
			}
			if in.Op != CFASetRAState {
				s.signed = !s.signed
				break
			}
			// 0: not signed; 1: signed with SP; 2: signed with SP and PC. Where it was signed (N)
			// is for the check, not for the address.
			if in.Reg > 2 {
				reason = fmt.Sprintf("state is %d, want 0 to 2", in.Reg)
			}
			s.signed = in.Reg != 0
		}
	}
	switch {
	case c.Bad:
		return m.fail("operand "+truncated+" or does not fit in 64 bits", ErrMalformed)
	case reason != "":
		return m.fail(reason, ErrMalformed)
	case m.cie && m.loc != 0:
		return m.fail("advances in a CIE", ErrMalformed)
	}
	return nil
}

func (m *machine) fail(reason string, kind error) error {
	e := &Error{m.s.Kind, "FDE", m.fde.Offset, opOf(m.c.Data[m.at]).String(), m.c.base + m.at, reason, kind}
	if m.cie {
		e.Entry, e.Offset = "CIE", m.fde.CIE.Offset
	}
	return e
}

// advance moves on by delta units of code.
func (m *machine) advance(delta uint64) (reason string) {
	over, n := bits.Mul64(delta, m.fde.CIE.CodeAlign)
	loc := m.loc + n
	if over != 0 || loc < n || loc > addressMask(m.fde.CIE.PtrSize) {
		return "advances past the end of the address space"
	}
	m.before, m.loc = m.loc, loc
	return ""
}

// minThunk is the length in bytes of a thunk's call, and of the loop behind it.
const minThunk = 5 + 2

// A maybeThunk is where an instruction has set the CFA's offset to two words, from a former one,
// but a thunk's code may begin; see Options.Thunk. To find that out takes time, and few rows depend
// on it. at is 0 if there is no such place.
type maybeThunk struct {
	at  uint64
	was int32
}

// settle finds out about a place where a thunk's code may begin. Tables change nothing in the call
// and the loop before that code: the CFA's offset is the former one.
func (m *machine) settle() {
	if m.maybe.at != 0 && m.s.thunk(m.maybe.at) {
		m.top.cfa.Off = m.maybe.was
	}
	m.maybe.at = 0
}

// needThunk reports whether it has to be known at once whether a thunk's code begins at m.loc.
func (m *machine) needThunk() bool {
	t := &m.top
	return t.cfa.Kind == trad.ValExpr || m.maybe.at != 0 || m.pushed(t.fp) ||
		slices.ContainsFunc(m.registers(t), func(r trad.RegRule) bool { return m.pushed(r.Rule) })
}

// thunk reports whether a thunk's code begins at m.loc. Where the call has pushed its return
// address, a register may have been saved: tables leave out that it has its value again.
func (m *machine) thunk() bool {
	if !m.s.thunk(m.loc) {
		return false
	}
	t := &m.top
	gone := func(r *trad.Rule) {
		if m.pushed(*r) {
			*r = trad.Rule{Kind: trad.Same}
		}
	}
	gone(&t.fp)
	for i := range m.registers(t) {
		gone(&m.registers(t)[i].Rule)
	}
	return true
}

// pushed reports whether a register is saved further in than the frame reaches.
func (m *machine) pushed(r trad.Rule) bool {
	cfa := m.top.cfa
	return cfa.Kind == trad.InReg && cfa.Reg != m.s.fp && r.Kind == trad.Saved && r.Off < -cfa.Off
}

func (m *machine) setLoc() (reason string) {
	cie := &m.fde.CIE
	loc, reason := m.s.pointer(&m.c, cie.encoding, cie.PtrSize, m.fde.Start, !m.cie)
	if reason == "" && loc < m.loc {
		return fmt.Sprintf("goes back from %#x to %#x", m.loc, loc)
	}
	m.before, m.loc = m.loc, loc
	return reason
}

const tooFar = "offset does not fit in 32 bits"

// factored returns n*factor, if it fits.
func factored(n, factor int64) (int32, bool) {
	if n != int64(int32(n)) || factor != int64(int32(factor)) {
		return 0, n == 0 || factor == 0
	}
	p := n * factor
	return int32(p), p == int64(int32(p))
}

func (m *machine) defCFA(reg, n uint64, factor int64) (reason string) {
	off, ok := factored(int64(n), factor)
	switch {
	case !ok:
		return tooFar
	case reg > math.MaxUint16:
		return "register number does not fit in 16 bits"
	}
	m.top.cfa, m.maybe.at = trad.Rule{Kind: trad.InReg, Reg: trad.Reg(m.number(reg)), Off: off}, 0
	return ""
}

func (m *machine) defCFAOffset(n uint64, factor int64) (reason string) {
	off, ok := factored(int64(n), factor)
	switch {
	case m.top.cfa.Kind == trad.ValExpr:
		return "the CFA is an expression, not a register and an offset"
	case !ok:
		return tooFar
	}
	m.top.cfa.Off, m.maybe.at = off, 0
	return ""
}

func (m *machine) offsetRule(reg uint64, kind trad.Kind, n uint64) (reason string) {
	if n > math.MaxInt64 {
		return tooFar
	}
	return m.signedRule(reg, kind, int64(n))
}

func (m *machine) signedRule(reg uint64, kind trad.Kind, n int64) (reason string) {
	off, ok := factored(n, m.fde.CIE.DataAlign)
	if !ok {
		return tooFar
	}
	m.rule(reg, trad.Rule{Kind: kind, Off: off})
	return ""
}

// expression returns a rule for the expression whose length is at an offset in the data of m.c.
func (m *machine) expression(kind trad.Kind, at int) trad.Rule {
	return trad.Rule{Kind: kind, Off: int32(uint32(m.c.base + at))}
}

// rule sets a register's rule.
func (m *machine) rule(reg uint64, rule trad.Rule) {
	m.put(m.number(reg), rule)
}

// put is rule for a register by its number.
func (m *machine) put(reg uint64, rule trad.Rule) {
	switch {
	case reg == uint64(m.fde.CIE.RA):
		m.top.ra = rule
	case reg == uint64(m.s.fp):
		m.top.fp = rule
	case reg < maxRegister:
		m.set(trad.Reg(reg), rule)
	}
}

// restore resets a register's rule to the CIE's.
func (m *machine) restore(reg uint64) {
	if m.cie { // a CIE's rules start empty
		m.rule(reg, trad.Rule{})
		return
	}
	reg = m.number(reg)
	initial := &m.allSaved()[0]
	var rule trad.Rule
	switch {
	case reg == uint64(m.fde.CIE.RA):
		rule = initial.ra
	case reg == uint64(m.s.fp):
		rule = initial.fp
	case reg < maxRegister:
		rules := m.registers(initial)
		if i, ok := find(rules, trad.Reg(reg)); ok {
			rule = rules[i].Rule
		}
	}
	m.put(reg, rule)
}
