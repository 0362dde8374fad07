package value

import (
	"debug/dwarf"
	"errors"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/floats"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// context is what expressions of a frame are evaluated with.
type context struct {
	r       *Reader
	frame   logical.Frame
	mem     target.Memory
	watched watched // mem, if the process runs on; of the frame whose variables are read
	scopes  *scopes
	pc      uint64  // link-time address in block
	nested  int     // how many evaluations led here: of a caller's argument, of a variable that an expression names
	object  *uint64 // address of the object that expressions are about (DW_OP_push_object_address); nil if they are about none

	base struct {
		read bool
		addr uint64
		err  error
	}

	calledBy struct { // the context of the caller
		read bool
		c    *context
		err  error
	}

	structs map[*Type]*Type // what structs of variable size are in the frame

	bytes []byte // room for the bytes of small values
}

// smallBytes returns n zeros for the bytes of a value, which the end of the frame's use ends, too.
// c may be nil.
func (c *context) smallBytes(n uint64) []byte {
	const small, many, most = 256, 512, 16 << 10
	if c == nil || n > small {
		return make([]byte, n)
	}
	if uint64(cap(c.bytes)-len(c.bytes)) < n {
		c.bytes = make([]byte, 0, min(max(2*cap(c.bytes), many), most))
	}
	at := len(c.bytes)
	c.bytes = c.bytes[:at+int(n)]
	b := c.bytes[at : at+int(n) : at+int(n)]
	clear(b)
	return b
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
	if f == nil { // of an expression that is in no frame
		return frame.Value{}
	}
	if c.frame.Type == frame.TailCall { // its registers are those with which the function was entered that it jumped to
		return f.PrevRegister(reg)
	}
	return f.Register(reg)
}

func (c *context) cfa() (uint64, error) {
	if c.frame.Physical == nil {
		return 0, ErrUnavailable
	}
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
		if len(c.scopes.list) == 0 {
			return 0, c.base.err
		}
		function := c.scopes.list[0].Entry
		if c.scopes.base == nil {
			c.scopes.base = expressionOf(function, dwarf.AttrFrameBase, c.pc)
		}
		x, err := c.scopes.base.x, c.scopes.base.err
		if err == nil && x != nil {
			c.base.addr, err = c.value(function, x)
		} else if err == nil {
			at := c.r.Symbols.Locate(c.r.Modules, c.frame.AddressInBlock)
			name := at[len(at)-1].Function
			if full, off, ok := c.r.SymbolAt(c.entry()); ok && off == 0 && c.scopes.list[0].Language() == "c++" {
				name = full
			}
			err = noFrameBase{name}
		}
		c.base.err = err
	}
	return c.base.addr, c.base.err
}

func evaluated(x *symbol.Expression) dwarfexpr.Expression {
	return dwarfexpr.Expression{Code: x.Code, Order: x.Order, AddrSize: x.AddrSize, OffsetSize: x.OffsetSize, Version: x.Version}
}

// noFrameBase says, as GDB does, that nothing tells the base of a function's frame.
type noFrameBase struct{ function string }

func (e noFrameBase) Error() string {
	return fmt.Sprintf("Could not find the frame base for %q.", e.function)
}

// value returns the number that an expression of an entry computes.
func (c *context) value(e *symbol.Entry, x *symbol.Expression) (uint64, error) {
	l, err := c.number(e, x)
	return l.Bits, err
}

// number is value for a number of any type, which it returns as a location of the kind
// [dwarfexpr.Value].
func (c *context) number(e *symbol.Entry, x *symbol.Expression) (dwarfexpr.Location, error) {
	env := &c.r.env
	defer env.leave(env.enter(c, e, x))
	return evaluated(x).Number(&env.Context)
}

// location returns where the object of an entry is, by the expression of its location.
func (c *context) location(e *symbol.Entry, at *expression) (dwarfexpr.Location, error) {
	x := at.x
	if x.Code[0] == dwarfdata.OpFbreg { // most variables without optimization
		r := dwarfdata.New(x.Code[1:], x.Order)
		if off := r.SLEB128(); !r.Bad && !r.More() {
			base, err := c.frameBase()
			return dwarfexpr.Location{Kind: dwarfexpr.Memory, Addr: c.r.Arch.Wrap(base + uint64(off))}, err
		}
	}
	env := &c.r.env
	defer env.leave(env.enter(c, e, x))
	env.now.failure, env.Failure = &at.failure, &at.failure
	l, err := evaluated(x).Locate(&env.Context)
	if err == nil {
		return l, nil
	}
	if why, ok := errors.AsType[threadlocal.Error](err); ok {
		err = why // says enough without the operation
	}
	if none, ok := errors.AsType[noFrameBase](err); ok {
		err = none
	}
	return l, err
}

// called returns the expression of the entry that DW_OP_call names. It is empty if the object is
// nowhere.
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
	f, ok := t.formatOf(t.Size)
	x87 := ok && f == floats.X87 && dwarfexpr.Encoding(t.Encoding) == dwarfexpr.Float
	return dwarfexpr.Type{Size: int(t.Size), Encoding: dwarfexpr.Encoding(t.Encoding), X87: x87}, nil
}

// typedRegister returns the bytes of a number of a base type that a register holds, as they would
// lie in memory (DW_OP_regval_type).
func (c *context) typedRegister(reg trad.Reg, t dwarfexpr.Type) ([]byte, error) {
	b, err := c.registerBytes(reg, t.Size)
	if err != nil {
		return nil, err
	}
	if t.Encoding == dwarfexpr.Float && c.r.Arch.IsX87(reg) {
		b = fromX87(b, t.Size)
	}
	switch {
	case len(b) < t.Size:
		return nil, ErrUnavailable
	case c.r.order() == bigEndian && !c.leftAligned(reg):
		return b[len(b)-t.Size:], nil
	}
	return b[:t.Size], nil
}

// valueOf returns the number that a variable holds (DW_OP_GNU_variable_value).
func (c *context) valueOf(ref symbol.Ref) (uint64, error) {
	v, err := c.variable(ref)
	if err != nil {
		return 0, err
	}
	return v.Uint()
}

// variable returns the value of the variable of an entry, or of the one in scope that this is the
// abstract entry of.
func (c *context) variable(ref symbol.Ref) (Value, error) {
	to := c.scopes.mentioned(c.r, ref)
	if to.err != nil {
		return Value{}, to.err
	}
	if c.nested >= maxNested {
		return Value{Type: to.t, err: ErrUnavailable}, nil
	}
	object := c.object
	c.nested++
	c.object = nil
	v := c.locate(to.entry, to.t, &to.known)
	c.nested--
	c.object = object
	return v, nil
}

// inner returns a context for an evaluation about another object.
func (c *context) inner() *context {
	return &context{r: c.r, frame: c.frame, mem: c.mem, scopes: c.scopes, pc: c.pc, nested: c.nested + 1, base: c.base}
}
