package fromelf

import (
	"math/bits"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
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

// postfix appends a DWARF expression as one of STACK CFI; ok is false if it has no words for it.
// first is on the stack at the beginning, if it is not "". An expression must leave one value.
//
// Comparisons and bits have no operators. What the linkage tables of amd64 need of them is
// arithmetic: x & 15 is x % 16, and x >= 11 of such an x is (x + 5) / 16.
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
		case op == dwarfdata.OpNop:
			continue
		case op >= dwarfdata.OpLit0 && op < dwarfdata.OpLit0+32:
			pushNumber(int64(op - dwarfdata.OpLit0))
			continue
		case op >= dwarfdata.OpConst1u && op <= dwarfdata.OpConst8s:
			pushNumber(constant(&c, op))
			continue
		case op == dwarfdata.OpConstu:
			pushNumber(int64(c.ULEB128()))
			continue
		case op == dwarfdata.OpConsts:
			pushNumber(c.SLEB128())
			continue
		case op >= dwarfdata.OpBreg0 && op < dwarfdata.OpBreg0+32 || op == dwarfdata.OpBregx:
			reg := uint64(op - dwarfdata.OpBreg0)
			if op == dwarfdata.OpBregx {
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
		case dwarfdata.OpDeref:
			flush()
			stack[n-1].below = 0
			word("^")
			continue
		case dwarfdata.OpPlusUconst:
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
			case op != dwarfdata.OpPlus && op != dwarfdata.OpMinus && op != dwarfdata.OpMul || x.number:
				return b, false
			case op == dwarfdata.OpPlus:
				word("+")
			case op == dwarfdata.OpMinus:
				word("-")
			case op == dwarfdata.OpMul:
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
		case op == dwarfdata.OpPlus:
			num(y.n)
			word("+")
			x.below = 0
		case op == dwarfdata.OpMinus:
			num(y.n)
			word("-")
			x.below = 0
		case op == dwarfdata.OpMul:
			num(y.n)
			word("*")
			x.below = 0
		case op == dwarfdata.OpShl && y.n >= 0 && y.n < 32:
			num(1 << y.n)
			word("*")
			x.below = 0
		case op == dwarfdata.OpAnd && y.n >= 0 && y.n < 1<<16 && bits.OnesCount64(uint64(y.n)+1) == 1:
			num(y.n + 1)
			word("%")
			x.below = y.n + 1
		case op == dwarfdata.OpAnd && y.n < 0 && bits.OnesCount64(uint64(-y.n)) == 1:
			num(-y.n)
			word("@")
			x.below = 0
		case op == dwarfdata.OpGe && x.below > 0 && y.n > 0 && y.n < x.below && x.below-y.n < x.below:
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
	size := 1 << ((op - dwarfdata.OpConst1u) / 2)
	v := c.Uint(size)
	if (op-dwarfdata.OpConst1u)%2 == 1 {
		shift := 64 - 8*size
		return int64(v<<shift) >> shift
	}
	return int64(v)
}
