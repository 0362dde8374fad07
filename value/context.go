package value

import (
	"debug/dwarf"
	"fmt"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/dwarfexpr"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// context is what expressions of a frame are evaluated with.
type context struct {
	r      *Reader
	frame  logical.Frame
	mem    target.Memory
	scopes *scopes
	pc     uint64 // link-time address in block
	nested int    // how many evaluations led here: of a caller's argument, of a variable that an expression names

	base struct {
		read bool
		addr uint64
		err  error
	}
}

// maxNested bounds evaluations within each other.
const maxNested = 16

// register returns what the frame sees in a register.
func (c *context) register(reg trad.Reg) (uint64, error) {
	v := c.rawRegister(reg)
	switch {
	case v.Known():
		return v.Bits, nil
	case v.Lval == frame.NotSaved:
		return 0, ErrNotSaved
	}
	return 0, ErrUnavailable
}

func (c *context) rawRegister(reg trad.Reg) frame.Value {
	f := c.frame.Physical
	if c.frame.Type == frame.TailCall { // its registers are those with which the function was entered that it jumped to
		return f.PrevRegister(reg)
	}
	return f.Register(reg)
}

func (c *context) cfa() (uint64, error) {
	if a, ok := c.frame.Physical.CFA(); ok {
		return a, nil
	}
	return 0, ErrUnavailable
}

// frameBase returns DW_AT_frame_base of the function.
func (c *context) frameBase() (uint64, error) {
	if !c.base.read {
		c.base.read = true
		c.base.err = ErrUnavailable
		function := c.scopes.list[0].Entry
		x, err := function.Expression(dwarf.AttrFrameBase, c.pc)
		if err == nil && x != nil {
			c.base.addr, err = evaluated(x).Value(c.environment(function, x))
		} else if err == nil {
			err = ErrUnavailable
		}
		c.base.err = err
	}
	return c.base.addr, c.base.err
}

func evaluated(x *symbol.Expression) dwarfexpr.Expression {
	return dwarfexpr.Expression{Code: x.Code, Order: x.Order, AddrSize: x.AddrSize, OffsetSize: x.OffsetSize, Version: x.Version}
}

// environment returns what an expression of an entry may ask for.
func (c *context) environment(e *symbol.Entry, x *symbol.Expression) *dwarfexpr.Context {
	return &dwarfexpr.Context{
		Register: c.register,
		Memory:   func(addr uint64, b []byte) error { return readMemory(c.mem, c.r.Arch.Wrap(addr), b) },
		CFA:      c.cfa, FrameBase: c.frameBase,
		Bias:       c.scopes.bias,
		Address:    x.Address,
		TLS:        c.threadLocal,
		EntryValue: func(y dwarfexpr.Expression) (uint64, error) { return c.entryValue(y) },
		Parameter: func(ref uint64) (uint64, error) {
			to := e.At(ref, true)
			return c.callerArgument(func(p *symbol.Entry) bool {
				return p.Reference(attrCallParameter) == to || p.Reference(dwarf.AttrAbstractOrigin) == to
			})
		},
		Call: func(op byte, ref uint64) ([]byte, error) {
			const callRef = 0x9a
			return c.called(e.At(ref, op != callRef))
		},
		Type:     func(ref uint64) (dwarfexpr.Type, error) { return c.r.stackType(e.At(ref, true)) },
		Variable: func(ref uint64) (uint64, error) { return c.valueOf(e.At(ref, false)) },
	}
}

// called returns the expression of the entry that DW_OP_call names. It is empty if the object is nowhere.
func (c *context) called(ref symbol.Ref) ([]byte, error) {
	e, err := c.r.Symbols.Entry(ref)
	if err != nil {
		return nil, err
	}
	x, err := e.Expression(dwarf.AttrLocation, c.pc)
	if err != nil || x == nil {
		return nil, err
	}
	return x.Code, nil
}

// stackType returns a base type for the expression stack.
func (r *Reader) stackType(ref symbol.Ref) (dwarfexpr.Type, error) {
	if ref.Offset() == 0 {
		return dwarfexpr.Type{}, nil
	}
	t := r.typeAt(ref)
	if t.Tag() != dwarf.TagBaseType || t.Size == 0 || t.Size > 16 {
		return dwarfexpr.Type{}, fmt.Errorf("offset %#x: no base type: %w", ref.Offset(), symbol.ErrNoEntry)
	}
	return dwarfexpr.Type{Size: int(t.Size), Encoding: dwarfexpr.Encoding(t.Encoding)}, nil
}

// valueOf returns the number that a variable holds (DW_OP_GNU_variable_value).
func (c *context) valueOf(ref symbol.Ref) (uint64, error) {
	e, err := c.r.Symbols.Entry(ref)
	if err != nil {
		return 0, err
	}
	v := c.variable(e)
	return v.Uint()
}

// variable returns the value of the variable of an entry, or of the one in scope that e is the abstract entry of.
func (c *context) variable(e *symbol.Entry) Value {
	if c.nested >= maxNested {
		return Value{Type: c.r.typeOf(e), err: ErrUnavailable}
	}
	if !e.Has(dwarf.AttrLocation) && !e.Has(dwarf.AttrConstValue) {
		for _, s := range c.scopes.list {
			for _, x := range s.Entries {
				if x.Reference(dwarf.AttrAbstractOrigin) == e.Ref {
					inner := *c
					inner.nested++
					v := inner.locate(x, c.r.typeOf(e))
					return v
				}
			}
		}
	}
	inner := *c
	inner.nested++
	return inner.locate(e, c.r.typeOf(e))
}
