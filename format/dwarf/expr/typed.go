package expr

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/trad"
)

// typed runs an operation that reads memory, or has a base type (DWARF 5, sections 2.5.1.2,
// 2.5.1.3 and 2.5.1.6). It reports whether op is one of these.
func (e *evaluation) typed(op byte) bool {
	r := &e.r
	switch op {
	case dwarf.OpDeref:
		e.push(e.load(e.pop(), e.x.AddrSize))
	case dwarf.OpDerefSize:
		size := int(r.U8())
		if size > e.x.AddrSize {
			e.fail(malformed("reads %d bytes, want 1 to %d", size, e.x.AddrSize))
		}
		e.push(e.load(e.pop(), size))
	case dwarf.OpXderef, dwarf.OpXderefSize, dwarf.OpXderefType:
		e.fail(unavailable("another address space"))
	case dwarf.OpConstType:
		t := e.typeAt(r.ULEB128())
		b := r.Take(uint64(r.U8()))
		if e.err != nil || r.Bad {
			break
		}
		if len(b) != t.width(e.word) {
			e.fail(malformed("constant of %d bytes for a type of %d", len(b), t.Size))
			break
		}
		e.pushOperand(e.typedNumber(b, t))
	case dwarf.OpRegvalType:
		n := r.ULEB128()
		t := e.typeAt(r.ULEB128())
		e.pushOperand(e.typedRegister(n, t))
	case dwarf.OpDerefType:
		size := int(r.U8())
		t := e.typeAt(r.ULEB128())
		addr := e.pop()
		if e.err == nil && size != t.width(e.word) {
			e.fail(malformed("reads %d bytes for a type of %d", size, t.Size))
		}
		e.pushOperand(e.loadTyped(addr, t))
	case dwarf.OpConvert, dwarf.OpReinterpret:
		t := e.typeAt(r.ULEB128())
		v := e.popOperand()
		if e.err != nil || r.Bad {
			break
		}
		if op == dwarf.OpConvert {
			e.pushOperand(e.convert(v, t))
			break
		}
		if v.t.width(e.word) != t.width(e.word) {
			e.fail(malformed("a value of one size is taken for one of another"))
		}
		e.pushOperand(operand{v.bits, v.high, t})
	default:
		return false
	}
	return true
}

// typedRegister returns the value of a type in a register. Vectors and the x87's numbers have more
// bits than [Context.Register] tells.
func (e *evaluation) typedRegister(n uint64, t Type) operand {
	switch {
	case e.r.Bad || e.err != nil:
	case n > uint64(^trad.Reg(0)):
		e.fail(malformed("there is no register %d", n))
	case t.generic() || e.env.Typed == nil && !t.wide():
		return operand{bits: e.register(n) & mask(t.width(e.word)), t: t}
	case e.env.Typed == nil:
		e.fail(unavailable("a register of 16 bytes"))
	default:
		b, err := e.env.Typed(trad.Reg(n), t)
		if err == nil && len(b) != t.Size {
			err = unavailable("a value of this size")
		}
		if err != nil {
			e.fail(failure{e.registerName(n), err})
			return operand{}
		}
		return e.typedNumber(b, t)
	}
	return operand{}
}

// typeAt returns the base type at an offset in the unit; 0 is the generic type.
func (e *evaluation) typeAt(ref uint64) Type {
	switch {
	case ref == 0 || e.r.Bad || e.err != nil:
	case e.env.Type == nil:
		e.fail(unavailable("the unit's base types"))
	default:
		t, err := e.env.Type(ref)
		if err == nil && !t.valid() {
			err = unavailable(fmt.Sprintf("numbers of encoding %d and %d bytes", t.Encoding, t.Size))
		}
		if err != nil {
			e.fail(fmt.Errorf("base type at %#x: %w", ref, err))
			return Type{}
		}
		return t
	}
	return Type{}
}
