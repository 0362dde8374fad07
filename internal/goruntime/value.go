package goruntime

import "github.com/sfwalk/sfwalk/trad"

// valueKind says what a value is made of.
type valueKind uint8

const (
	unknown  valueKind = iota
	number             // off
	address            // off, an address of the file: the load bias must be added
	entry              // register reg as it was at the function's first instruction, plus off
	fresh              // the stack pointer as instruction id has set it, plus off; with reg, what that register has there
	deref              // the word at address of, plus off
	local              // the word in the thread's own storage at the thread pointer plus of
	distance           // of minus less, plus off
)

// value is the content of a register or a word of memory, as far as the code tells: an
// expression over the registers that the function began with.
type value struct {
	kind valueKind
	reg  trad.Reg
	id   uint64
	off  int64
	of   *value
	less *value
	size uint8 // of the expression
}

// maxValue bounds the size of an expression. The runtime's code needs no larger ones.
const maxValue = 12

// plus returns v+n.
func (v value) plus(n int64) value {
	if v.kind != unknown {
		v.off += n
	}
	return v
}

// Plus, Sum, Minus and Number implement dataflow.Number.
func (v value) Plus(n int32) value { return v.plus(int64(n)) }

func (v value) Sum(w value) value {
	if v.kind == number {
		v, w = w, v
	}
	if w.kind != number {
		return value{}
	}
	return v.plus(w.off)
}

func (v value) Minus(w value) value { return over(distance, v, w) }

func (v value) Number() (n int32, ok bool) {
	return int32(v.off), v.kind == number && v.off == int64(int32(v.off))
}

// is reports whether v is register r's value at the function's beginning.
func (v value) is(r trad.Reg) bool { return v.kind == entry && v.reg == r && v.off == 0 }

// from reports whether v is at a known distance from register r's value at the function's
// beginning.
func (v value) from(r trad.Reg) bool { return v.kind == entry && v.reg == r }

// over returns a value of the given kind with the members of and less. Only a distance has less.
func over(kind valueKind, of, less value) value {
	v := value{kind: kind, of: &of, size: of.size + 1}
	if kind == distance {
		v.less = &less
		v.size += less.size
	}
	if kind == distance && less.kind == distance && equal(*less.of, of) {
		return less.less.plus(-less.off) // a - (a - b)
	}
	if of.kind == unknown || kind == distance && less.kind == unknown || v.size > maxValue {
		return value{}
	}
	return v
}

// equal reports whether two expressions are the same.
func equal(a, b value) bool {
	if a.kind != b.kind || a.reg != b.reg || a.id != b.id || a.off != b.off {
		return false
	}
	same := func(a, b *value) bool { return a == b || a != nil && b != nil && equal(*a, *b) }
	return same(a.of, b.of) && same(a.less, b.less)
}
