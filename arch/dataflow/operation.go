package dataflow

import "math"

// A Kind is what a micro-operation does.
type Kind uint8

const (
	Sum     Kind = iota // Dst = Base + Index + Imm, where None is 0
	Minus               // Dst = Base - Index
	Insert              // Dst = Dst with Width bits, from bit Shift on, replaced by Imm
	Round               // Dst = Base rounded down, by the mask Imm
	Load                // Dst = Width bytes at Base + Index + Imm; the address is not followed where Base is None
	Store               // Width bytes at Base + Index + Imm = Src
	Compare             // Dst with Src
	Sign                // the return address gets an authentication code, or loses it
)

// An Op is a micro-operation. The micro-operations of an instruction take effect one after another.
type Op struct {
	Kind     Kind
	Dst, Src Reg
	Base     Reg
	Index    Reg
	Shift    uint8
	Width    uint16
	Imm      int32
}

// Const returns dst = n.
func Const(dst Reg, n int32) Op {
	return Op{Kind: Sum, Dst: dst, Src: None, Base: None, Index: None, Imm: n}
}

// Move returns dst = src.
func Move(dst, src Reg) Op { return Add(dst, src, 0) }

// Add returns dst = src + n.
func Add(dst, src Reg, n int32) Op {
	return Op{Kind: Sum, Dst: dst, Src: None, Base: src, Index: None, Imm: n}
}

// LoadWord returns dst = the word of 8 bytes at base + off.
func LoadWord(dst, base Reg, off int32) Op { return LoadFrom(dst, base, off, 8) }

// LoadFrom returns dst = width bytes at base + off.
func LoadFrom(dst, base Reg, off int32, width uint16) Op {
	return Op{Kind: Load, Dst: dst, Src: None, Base: base, Index: None, Width: width, Imm: off}
}

// StoreTo returns: width bytes at base + off = src.
func StoreTo(base Reg, off int32, width uint16, src Reg) Op {
	return Op{Kind: Store, Dst: None, Src: src, Base: base, Index: None, Width: width, Imm: off}
}

// Insert returns what an Insert makes of a number; ok is false where that does not fit.
func (o *Op) Insert(old int32) (n int32, ok bool) {
	if o.Shift >= 32 {
		return 0, false
	}
	mask := int64(1)<<o.Width - 1
	v := int64(old)&^(mask<<o.Shift) | int64(o.Imm)&mask<<o.Shift
	return int32(v), v >= math.MinInt32 && v <= math.MaxInt32
}

// A Number is a value of an abstract domain, with its arithmetic. Where the domain cannot say what
// comes out, that is the value that is not known.
type Number[V any] interface {
	Plus(n int32) V
	Sum(w V) V
	Minus(w V) V
	// Number returns the number that a constant is; ok is false for what is none.
	Number() (n int32, ok bool)
}

// A Domain is an abstract domain: a state whose registers and memory hold values V. [Execute] is
// the transfer function.
type Domain[V Number[V]] interface {
	// Reg returns what a register holds; Set changes it. Both keep [Temp], too. [None] is not
	// known. What [PC] and [Thread] hold is for the domain to say.
	Reg(r Reg) V
	Set(r Reg, v V)
	Constant(n int32) V
	// Round returns v rounded down by the mask o.Imm.
	Round(o *Op, v V) V
	// Load returns what the o.Width bytes at an address hold, Store changes them.
	Load(o *Op, at V) V
	Store(o *Op, at, v V)
	// Compare is told which registers are compared, by o.Dst and o.Src.
	Compare(o *Op)
	Sign()
}

// Execute executes a micro-operation in the domain d. Nothing else says what each [Kind] means.
func Execute[V Number[V]](d Domain[V], o *Op) {
	switch o.Kind {
	case Sum:
		if o.Base == None {
			d.Set(o.Dst, d.Constant(o.Imm))
		} else {
			d.Set(o.Dst, address(d, o))
		}
	case Minus:
		if o.Base == o.Index {
			d.Set(o.Dst, d.Constant(0))
		} else {
			d.Set(o.Dst, d.Reg(o.Base).Minus(d.Reg(o.Index)))
		}
	case Insert:
		var v V
		if old, ok := d.Reg(o.Dst).Number(); ok {
			if n, ok := o.Insert(old); ok {
				v = d.Constant(n)
			}
		}
		d.Set(o.Dst, v)
	case Round:
		d.Set(o.Dst, d.Round(o, d.Reg(o.Base)))
	case Load:
		d.Set(o.Dst, d.Load(o, address(d, o)))
	case Store:
		d.Store(o, address(d, o), d.Reg(o.Src))
	case Compare:
		d.Compare(o)
	case Sign:
		d.Sign()
	}
}

// address returns Base + Index + Imm.
func address[V Number[V]](d Domain[V], o *Op) V {
	v := d.Reg(o.Base)
	if o.Index != None {
		v = v.Sum(d.Reg(o.Index))
	}
	return v.Plus(o.Imm)
}
