package value

import (
	"debug/dwarf"
	"errors"

	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// Value returns the variable's value.
func (v *Variable) Value() Value {
	if v.Constant {
		for _, e := range v.Type.Enumerators() {
			if e.Name == v.Name {
				return v.Type.constant(e.Value)
			}
		}
	}
	return v.in.locate(v.entry, v.Type, v.known)
}

// constant returns a number as a value of the type.
func (t *Type) constant(n int64) Value {
	size, ok := t.SizeOf()
	if !ok || size > 16 {
		return Value{Type: t, err: ErrUnavailable}
	}
	b := make([]byte, size)
	for i := range b {
		x := byte(n >> min(63, 8*i))
		if t.ByteOrder() == bigEndian {
			b[len(b)-1-i] = x
		} else {
			b[i] = x
		}
	}
	return Value{Type: t, bytes: b, read: true}
}

// locate returns the value of the variable of an entry, of type t. k keeps what was read; it may be
// nil.
func (c *context) locate(e *symbol.Entry, t *Type, k *known) Value {
	if c.nested > maxNested {
		return Value{Type: t, err: ErrUnavailable}
	}
	if k == nil || k.varies {
		t = c.dynamic(t, 0)
	}
	if e.Has(dwarf.AttrConstValue) && !e.Has(dwarf.AttrLocation) {
		return c.constantOf(e, t)
	}
	var at *expression
	if k == nil || k.here == nil {
		at = expressionOf(e, dwarf.AttrLocation, c.pc)
		if k != nil {
			k.here = at
		}
	} else {
		at = k.here
	}
	x, err := at.x, at.err
	if err != nil {
		return Value{Type: t, err: err}
	}
	if x == nil || len(x.Code) == 0 {
		return Value{Type: t, err: ErrOptimizedOut, frame: c}
	}
	l, err := c.location(e, at)
	if err != nil {
		if isUnavailable(err) {
			err = at.countedOut(err)
		}
		return Value{Type: t, err: err, frame: c}
	}
	v := c.valueAt(&l, t, e)
	return v
}

// constantOf returns the value of a variable that is a constant (DW_AT_const_value).
func (c *context) constantOf(e *symbol.Entry, t *Type) Value {
	return t.constantOf(e, &Value{frame: c, mem: c.mem})
}

// constantOf returns the value of a variable or a static member that is a constant; what it points
// to is where in points to.
func (t *Type) constantOf(e *symbol.Entry, in *Value) Value {
	if n, ok := e.Constant(dwarf.AttrConstValue); ok {
		v := t.constant(int64(n))
		v.frame, v.mem = in.frame, in.mem
		return v
	}
	b := e.Block(dwarf.AttrConstValue)
	if text := e.Text(dwarf.AttrConstValue); text != "" {
		b = append([]byte(text), 0)
	}
	size, ok := t.SizeOf()
	if !ok || uint64(len(b)) < size {
		return Value{Type: t, err: ErrUnavailable}
	}
	return Value{Type: t, bytes: b[:size], read: true, frame: in.frame, mem: in.mem}
}

// valueAt returns the object at a location.
func (c *context) valueAt(l *dwarfexpr.Location, t *Type, e *symbol.Entry) Value {
	v := Value{Type: t, frame: c, mem: c.mem}
	switch l.Kind {
	case dwarfexpr.Memory:
		v.Place, v.Addr = InMemory, c.r.Arch.Wrap(l.Addr)
		return v
	case dwarfexpr.OptimizedOut:
		v.err = ErrOptimizedOut
		return v
	case dwarfexpr.Register:
		v.Place, v.Reg = InRegister, l.Reg
	case dwarfexpr.Composite:
		v.Place = InPieces
	}
	size, ok := t.SizeOf()
	if !ok || size > maxRead {
		v.err = ErrTooLarge
		return v
	}
	v.read = true
	v.bytes = c.smallBytes(size)
	if l.Kind != dwarfexpr.Composite {
		c.piece(&v, l, 0, 8*size, 0, e)
		if len(v.gaps) == 1 && v.gaps[0].to == nil && v.gaps[0].lo == 0 && v.gaps[0].hi == 8*size {
			v.err, v.gaps = v.gaps[0].why, nil
		}
		return v
	}
	at := uint64(0)
	for i := range l.Pieces {
		p := &l.Pieces[i]
		if at >= 8*size {
			break
		}
		n := min(p.Size, 8*size-at)
		c.piece(&v, &p.Location, at, n, p.Skip, e)
		at += n
	}
	if at < 8*size {
		v.gaps = append(v.gaps, gap{at, 8 * size, ErrOptimizedOut, nil})
	}
	return v
}

// piece fills in n bits of v from the bit at on, with what is at a location, without its first skip
// bits.
func (c *context) piece(v *Value, l *dwarfexpr.Location, at, n, skip uint64, e *symbol.Entry) {
	missing := func(err error) {
		if n > 0 {
			v.gaps = append(v.gaps, gap{at, at + n, err, nil})
		}
	}
	big := c.r.order() == bigEndian
	whole := at == 0 && n == 8*uint64(len(v.bytes)) // no piece of a larger value
	var source []byte
	switch l.Kind {
	case dwarfexpr.OptimizedOut:
		missing(ErrOptimizedOut)
		return
	case dwarfexpr.Memory:
		source = c.smallBytes((skip + n + 7) / 8)
		if err := readMemory(c.mem, c.r.Arch.Wrap(l.Addr), source); err != nil {
			if v.err == nil { // GDB reads all pieces, or shows nothing
				v.err = err
			}
			return
		}
	case dwarfexpr.Register:
		b, err := c.registerBytes(l.Reg, int((skip+n+7)/8))
		if err != nil {
			missing(err)
			return
		}
		if source = b; whole && v.Type.Strip().Kind == Float && c.r.Arch.IsX87(l.Reg) {
			source = fromX87(b, len(v.bytes))
		}
		if big && !c.leftAligned(l.Reg) {
			skip = lowest(source, skip, n)
		}
	case dwarfexpr.Value:
		size := l.Type.Size
		if size == 0 {
			size = c.r.Arch.PtrSize
		}
		source = c.smallBytes(uint64(size))
		put(source, l.Bits, l.High, big)
		if big {
			skip = lowest(source, skip, n)
		}
		if whole && uint64(size) < n/8 { // wider than the number: gdb has zeros
			source, skip = make([]byte, n/8), 0
			put(source, l.Bits, l.High, big)
		}
	case dwarfexpr.Implicit:
		source = l.Bytes
	case dwarfexpr.Pointer:
		v.gaps = append(v.gaps, gap{at, at + n, ErrSynthetic, c.pointee(l, e)})
		return
	}
	if uint64(len(source)) < (skip+n+7)/8 {
		missing(ErrUnavailable)
		return
	}
	copyBits(v.bytes, at, source, skip, n, big)
}

// lowest returns where n bits begin in the bytes of a number of a big-endian processor, if skip
// bits below them are left out.
func lowest(number []byte, skip, n uint64) uint64 {
	return max(8*uint64(len(number)), skip+n) - skip - n
}

func put(b []byte, low, high uint64, big bool) {
	for i := range b {
		var x byte
		switch {
		case i < 8:
			x = byte(low >> (8 * i))
		case i < 16:
			x = byte(high >> (8 * (i - 8)))
		}
		if big {
			b[len(b)-1-i] = x
		} else {
			b[i] = x
		}
	}
}

// copyBits copies n bits. Bits of a byte count from the lowest on a little-endian processor, else
// from the highest.
func copyBits(to []byte, at uint64, from []byte, skip, n uint64, big bool) {
	if at%8 == 0 && skip%8 == 0 && n%8 == 0 {
		copy(to[at/8:], from[skip/8:(skip+n)/8])
		return
	}
	for i := range n {
		f, t := skip+i, at+i
		fs, ts := f%8, t%8
		if big {
			fs, ts = 7-fs, 7-ts
		}
		to[t/8] |= from[f/8] >> fs & 1 << ts
	}
}

// registerBytes returns the bytes of a register as they would lie in memory. If n is more than it
// has, the bytes of further registers follow: those in which, for GDB, a value goes on.
func (c *context) registerBytes(reg trad.Reg, n int) ([]byte, error) {
	b, err := c.oneRegister(reg, n)
	for range maxRegisters {
		next, ok := c.r.Arch.Following(reg)
		if err != nil || len(b) >= n || !ok {
			break
		}
		var more []byte
		more, err = c.oneRegister(next, n-len(b))
		b, reg = append(b[:len(b):len(b)], more...), next
	}
	return b, err
}

// maxRegisters bounds the registers that one value is in.
const maxRegisters = 8

// oneRegister returns the bytes of one register as they would lie in memory: at least n of them, if
// it has as many.
func (c *context) oneRegister(reg trad.Reg, n int) ([]byte, error) {
	a := c.r.Arch
	if a.Wide(reg) != nil && c.frame.Physical != nil {
		b, err := c.frame.Physical.WideRegister(reg)
		switch {
		case err == nil && len(b) >= n:
			return b, nil
		case errors.Is(err, frame.ErrLost):
			return nil, ErrNotSaved
		}
	}
	if a.Index(reg) < 0 {
		return nil, ErrUnavailable
	}
	bits, err := c.register(reg)
	if err != nil {
		return nil, err
	}
	return a.RegisterBytes(reg, bits), nil
}

// leftAligned reports whether a value that is shorter than its register is in the register's first
// bytes.
func (c *context) leftAligned(reg trad.Reg) bool { return c.r.Arch.Wide(reg) != nil }

// pointee returns the object that an implicit pointer points to (DW_OP_implicit_pointer).
func (c *context) pointee(l *dwarfexpr.Location, e *symbol.Entry) *pointee {
	p := &pointee{offset: l.Offset}
	v, err := c.variable(e.At(l.Ref, false))
	if err != nil {
		v = Value{Type: c.r.void(), err: ErrOptimizedOut}
	}
	p.value = v
	return p
}
