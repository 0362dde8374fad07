package fromelf

import (
	"math/bits"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// Operations of DWARF expressions, DWARF 5 table 7.9, that STACK CFI has words for.
const (
	opAddr       = 0x03
	opDeref      = 0x06
	opConst1u    = 0x08
	opConst8s    = 0x0f
	opConstu     = 0x10
	opConsts     = 0x11
	opAnd        = 0x1a
	opMinus      = 0x1c
	opMul        = 0x1e
	opPlus       = 0x22
	opPlusUconst = 0x23
	opShl        = 0x24
	opGe         = 0x2a
	opLit0       = 0x30
	opLit31      = 0x4f
	opBreg0      = 0x70
	opBreg31     = 0x8f
	opBregx      = 0x92
	opNop        = 0x96
)

// maxPostfix bounds the operations of an expression that is translated.
const maxPostfix = 32

// operand is a value on the stack of an expression: its text, or a number that is not written yet.
type operand struct {
	from   int // where its text begins
	number bool
	n      int64
	below  int64 // its greatest value plus 1, if known and small; else 0
}

// postfix appends a DWARF expression as one of STACK CFI; ok is false if it has no words for it. first is on
// the stack at the beginning, if it is not "". An expression must leave one value.
//
// Comparisons and bits have no operators. What the linkage tables of amd64 need of them is arithmetic: x & 15 is x % 16, and
// x >= 11 of such an x is (x + 5) / 16.
func (t *translator) postfix(b, expr []byte, first string) (text []byte, ok bool) {
	c := dwarfdata.New(expr, t.d.image.Order)
	before := len(b)
	var stack []operand
	push := func(word string) {
		if len(b) > before {
			b = append(b, ' ')
		}
		stack = append(stack, operand{from: len(b)})
		b = append(b, word...)
	}
	word := func(s string) { b = append(append(b, ' '), s...) }
	num := func(n int64) { b = appendInt(append(b, ' '), n) }
	pushNumber := func(n int64) { stack = append(stack, operand{number: true, n: n}) }
	// flush writes the number on top.
	flush := func() {
		if top := &stack[len(stack)-1]; top.number {
			n := top.n
			stack = stack[:len(stack)-1]
			push("")
			b = appendInt(b, n)
		}
	}
	if first != "" {
		push(first)
	}
	for steps := 0; c.More(); steps++ {
		op := c.U8()
		if steps >= maxPostfix {
			return b, false
		}
		switch {
		case op == opNop:
			continue
		case op >= opLit0 && op <= opLit31:
			pushNumber(int64(op - opLit0))
			continue
		case op >= opConst1u && op <= opConst8s:
			pushNumber(constant(&c, op))
			continue
		case op == opConstu:
			pushNumber(int64(c.ULEB128()))
			continue
		case op == opConsts:
			pushNumber(c.SLEB128())
			continue
		case op >= opBreg0 && op <= opBreg31 || op == opBregx:
			reg := uint64(op - opBreg0)
			if op == opBregx {
				reg = c.ULEB128()
			}
			if reg >= uint64(len(t.names)) || t.names[reg] == "" {
				return b, false
			}
			if len(stack) > 0 {
				flush()
			}
			push(t.names[reg])
			if off := c.SLEB128(); off != 0 {
				num(off)
				word("+")
			}
			continue
		}
		n := len(stack)
		if n == 0 {
			return b, false
		}
		top := &stack[n-1]
		switch op {
		case opDeref:
			flush()
			stack[n-1].below = 0
			word("^")
			continue
		case opPlusUconst:
			off := c.ULEB128()
			if top.number {
				top.n += int64(off)
				continue
			}
			num(int64(off))
			word("+")
			top.below = 0
			continue
		}
		if n < 2 {
			return b, false
		}
		x, y := &stack[n-2], *top
		if !y.number {
			switch {
			case op != opPlus && op != opMinus && op != opMul || x.number:
				return b, false
			case op == opPlus:
				word("+")
			case op == opMinus:
				word("-")
			case op == opMul:
				word("*")
			}
			x.below = 0
			stack = stack[:n-1]
			continue
		}
		stack = stack[:n-1]
		if x.number {
			return b, false
		}
		switch {
		case op == opPlus:
			num(y.n)
			word("+")
			x.below = 0
		case op == opMinus:
			num(y.n)
			word("-")
			x.below = 0
		case op == opMul:
			num(y.n)
			word("*")
			x.below = 0
		case op == opShl && y.n >= 0 && y.n < 32:
			num(1 << y.n)
			word("*")
			x.below = 0
		case op == opAnd && y.n >= 0 && y.n < 1<<16 && bits.OnesCount64(uint64(y.n)+1) == 1:
			num(y.n + 1)
			word("%")
			x.below = y.n + 1
		case op == opAnd && y.n < 0 && bits.OnesCount64(uint64(-y.n)) == 1:
			num(-y.n)
			word("@")
			x.below = 0
		case op == opGe && x.below > 0 && y.n > 0 && y.n < x.below && x.below-y.n < x.below:
			num(x.below - y.n)
			word("+")
			num(x.below)
			word("/")
			x.below = 2
		default:
			return b, false
		}
	}
	if c.Bad || len(stack) != 1 {
		return b, false
	}
	flush()
	return b, true
}

// constant reads a number of DW_OP_const1u to DW_OP_const8s.
func constant(c *dwarfdata.Reader, op uint8) int64 {
	size := 1 << ((op - opConst1u) / 2)
	v := c.Uint(size)
	if (op-opConst1u)%2 == 1 {
		shift := 64 - 8*size
		return int64(v<<shift) >> shift
	}
	return int64(v)
}
