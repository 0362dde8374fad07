package expr

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/trad"
)

const (
	maxRuleStack = 64   // values on the stack of a rule
	maxRuleSteps = 4096 // operations that one evaluation of a rule runs
)

// Rule is the expression of a rule in call frame information, in place (DWARF 5, section 2.5, with
// the limits of section 6.4.2). It implements [trad.Expression].
//
// A walk evaluates rules frame after frame. Its machine therefore stands beside the machine of
// [Expression], which has types and takes three times as long (BenchmarkPLT): values are numbers of
// the size of an address. Both machines read operands and compute by the same functions. Nothing is
// allocated unless the evaluation fails.
type Rule struct {
	Code     []byte
	Section  string // for errors: what the section is called
	At       uint32 // for errors: the offset of Code in the section
	AddrSize uint8  // bytes of an address: 4 or 8
	Big      bool   // the target is big-endian
	// Exchanged are two registers each of which the expression calls by the other one's number. Two
	// equal numbers exchange nothing.
	Exchanged [2]trad.Reg
}

func (x *Rule) fail(op, off int, err error) error {
	what := "end"
	if op >= 0 {
		what = "DW_OP_" + operationName(byte(op))
	}
	return fmt.Errorf("cfi: %s expression at %#x: %s at %#x: %w", x.Section, x.At, what, int(x.At)+off, err)
}

// machine is the state of one evaluation of a rule.
type machine struct {
	x      *Rule
	r      dwarf.Reader
	stack  [maxRuleStack]uint64
	n      int
	mask   uint64 // the bits of an address
	reason string // why the evaluation cannot go on; "" if it can
}

func (m *machine) push(v uint64) {
	if m.n == maxRuleStack {
		m.reason = "stack is full"
		return
	}
	m.stack[m.n] = v & m.mask
	m.n++
}

func (m *machine) pop() uint64 {
	if m.n == 0 {
		m.reason = "stack is empty"
		return 0
	}
	m.n--
	return m.stack[m.n]
}

// pick pushes a copy of the value that lies i below the top.
func (m *machine) pick(i int) {
	if i >= m.n {
		m.reason = tooShort
		return
	}
	m.push(m.stack[m.n-1-i])
}

// Eval runs the expression on the registers and memory of THIS frame. If hasCFA is true, cfa lies
// on the stack at first. The error wraps [ErrMalformed], [ErrUnavailable] or an error of env.
func (x *Rule) Eval(env trad.Env, cfa uint64, hasCFA bool) (uint64, error) {
	if x.AddrSize != 4 && x.AddrSize != 8 {
		return 0, malformed("addresses of %d bytes", x.AddrSize)
	}
	m := machine{x: x, r: dwarf.Reader{Data: x.Code, Big: x.Big}, mask: mask(int(x.AddrSize))}
	if hasCFA {
		m.push(cfa)
	}
	for steps := 0; m.r.More(); steps++ {
		at := m.r.Off
		op := m.r.U8()
		if steps == maxRuleSteps {
			return 0, x.fail(int(op), at, malformed("no end after %d operations", maxRuleSteps))
		}
		var err error
		switch {
		case op >= dwarf.OpReg0 && op <= dwarf.OpBregx:
			err = m.register(op, env)
		case op == dwarf.OpDeref || op == dwarf.OpDerefSize:
			err = m.deref(op, env)
		case op == dwarf.OpCallFrameCFA && hasCFA:
			m.push(cfa)
		case op == dwarf.OpCallFrameCFA:
			m.reason = "the CFA is what is being computed"
		default:
			m.compute(op)
		}
		switch {
		case err != nil:
		case m.r.Bad:
			err = malformed("operand runs past the end of the entry or does not fit in 64 bits")
		case m.reason != "":
			err = malformed("%s", m.reason)
		}
		if err != nil {
			return 0, x.fail(int(op), at, err)
		}
	}
	if m.n == 0 {
		return 0, x.fail(-1, len(x.Code), malformed("stack is empty"))
	}
	return m.stack[m.n-1], nil
}

// register pushes a register of THIS, plus the offset of a breg. A plain DW_OP_reg means the
// register's value here, because it has no other use.
func (m *machine) register(op byte, env trad.Env) error {
	reg, off := uint64(0), int64(0)
	switch {
	case op < dwarf.OpBreg0:
		reg = uint64(op - dwarf.OpReg0)
	case op < dwarf.OpRegx:
		reg, off = uint64(op-dwarf.OpBreg0), m.r.SLEB128()
	case op == dwarf.OpRegx:
		reg = m.r.ULEB128()
	case op == dwarf.OpBregx:
		reg, off = m.r.ULEB128(), m.r.SLEB128()
	default: // fbreg needs a function's frame base, and CFI has none
		m.reason = "has no meaning in call frame information"
		return nil
	}
	if m.r.Bad {
		return nil
	}
	if reg > uint64(^trad.Reg(0)) {
		m.reason = fmt.Sprintf("there is no register %d", reg)
		return nil
	}
	n := trad.Reg(reg)
	switch a, b := m.x.Exchanged[0], m.x.Exchanged[1]; n {
	case a:
		n = b
	case b:
		n = a
	}
	v, ok := env.Register(n)
	if !ok {
		return trad.UnknownRegister(env, n)
	}
	m.push(v + uint64(off))
	return nil
}

// deref replaces the address on top by the value in memory there.
func (m *machine) deref(op byte, env trad.Env) error {
	size, word := m.x.AddrSize, uint64(m.x.AddrSize)
	if op == dwarf.OpDerefSize {
		size = m.r.U8()
		if !m.r.Bad && (size == 0 || size > m.x.AddrSize) {
			m.reason = fmt.Sprintf("reads %d bytes, want 1 to %d", size, m.x.AddrSize)
		}
	}
	addr := m.pop()
	if m.r.Bad || m.reason != "" {
		return nil
	}
	// env reads whole words. Read the aligned word that the bytes are in, since it is in
	// their page, unless they reach into the next word.
	from, skip := addr, uint64(0)
	if size < m.x.AddrSize && addr%word+uint64(size) <= word {
		skip = addr % word
		from -= skip
	}
	v, err := env.Word(from)
	if err != nil {
		return err
	}
	if m.x.Big {
		skip = word - uint64(size) - skip
	}
	m.push(v >> (8 * skip) & mask(int(size)))
	return nil
}

// compute runs an operation that touches neither registers nor memory.
func (m *machine) compute(op byte) {
	size := int(m.x.AddrSize)
	switch op {
	case dwarf.OpNop:
	case dwarf.OpDup:
		m.pick(0)
	case dwarf.OpOver:
		m.pick(1)
	case dwarf.OpPick:
		m.pick(int(m.r.U8()))
	case dwarf.OpDrop:
		m.pop()
	case dwarf.OpSwap:
		m.reason = rotate(m.stack[:m.n], 2)
	case dwarf.OpRot:
		m.reason = rotate(m.stack[:m.n], 3)
	case dwarf.OpSkip, dwarf.OpBra:
		by := int(int16(m.r.U16()))
		if (op == dwarf.OpSkip || m.pop() != 0) && m.reason == "" {
			m.reason = jump(&m.r, by)
		}
	case dwarf.OpPlusUconst:
		m.push(m.pop() + m.r.ULEB128())
	case dwarf.OpAbs, dwarf.OpNeg, dwarf.OpNot:
		m.push(unaryInteger(op, m.pop(), size, generic))
	case dwarf.OpAnd, dwarf.OpDiv, dwarf.OpMinus, dwarf.OpMod, dwarf.OpMul, dwarf.OpOr, dwarf.OpPlus, dwarf.OpShl, dwarf.OpShr, dwarf.OpShra, dwarf.OpXor,
		dwarf.OpEq, dwarf.OpGe, dwarf.OpGt, dwarf.OpLe, dwarf.OpLt, dwarf.OpNe:
		b := m.pop()
		a := m.pop()
		if m.reason == "" {
			var v uint64
			v, m.reason = binaryInteger(op, a, b, size, generic)
			m.push(v)
		}
	default:
		v, ok := literal(&m.r, op, size)
		if !ok {
			m.reason = "is unknown, or has no meaning in call frame information"
			return
		}
		m.push(v)
	}
}
