package frame

import (
	"strconv"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// Lval says where a [Value] lives.
type Lval uint8

const (
	NotKnown   Lval = iota // the value is not available
	NotSaved               // the value is lost: the call that THIS makes may have changed it
	InRegister             // in register Reg of the thread, live
	InMemory               // at address Addr
	Computed               // nowhere: it was computed
)

// Value is a register's value in some frame, and where it lives.
type Value struct {
	Bits uint64 // the value, if Known
	Addr uint64 // for InMemory
	Reg  trad.Reg
	Lval Lval
	Err  error // why a value is NotKnown, where there is more to say
}

// Known reports whether Bits is the register's value.
func (v Value) Known() bool { return v.Lval >= InRegister }

// narrow returns the value as register r holds it, which may be narrower than the value's
// source.
func (v Value) narrow(a *arch.Arch, r trad.Reg) Value {
	v.Bits = a.Narrow(r, v.Bits)
	return v
}

// String renders the value: "0x2a", "<not saved>", "<unavailable>".
func (v Value) String() string {
	switch v.Lval {
	case NotKnown:
		return "<unavailable>"
	case NotSaved:
		return "<not saved>"
	}
	text := [18]byte{'0', 'x'}
	return string(strconv.AppendUint(text[:2], v.Bits, 16))
}
