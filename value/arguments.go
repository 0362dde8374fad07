package value

import (
	"debug/dwarf"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/trad"
)

// Arguments writes the arguments of a frame as GDB's backtrace does: "n=5, p=p@entry=0x4006f0
// \"text\", s=...". An argument whose value at the function's entry the caller's call site tells,
// and which still has that value, is written with "@entry"; with another value, both are written.
func (p *Printer) Arguments(f *Frame) string { return string(p.AppendArguments(nil, f)) }

// AppendArguments appends Arguments(f) to b.
func (p *Printer) AppendArguments(b []byte, f *Frame) []byte {
	w := p.begin()
	defer w.free()
	for i := range f.Arguments {
		a := &f.Arguments[i]
		if i > 0 {
			w.add(", ")
		}
		if !p.Budget.Spend(costVariable) {
			w.add("...")
			break
		}
		v, entry := &a.in.r.room.shown, &a.in.r.room.entered
		var name string
		name, *v = p.Shown(a)
		var ok bool
		*entry, ok = a.AtEntry()
		ok = ok && name == a.Name
		w.add(name)
		w.add("=")
		if ok && sameAsEntry(v, entry) {
			w.add(name)
			w.add("@entry=")
			ok = false
		}
		w.orError(v)
		if ok {
			w.add(", ")
			w.add(a.Name)
			w.add("@entry=")
			w.orError(entry)
		}
	}
	return append(b, w.buf...)
}

// orError writes the value of an argument, or why it cannot be read.
func (w *Writer) orError(v *Value) {
	w.next()
	if err := v.Err(); err != nil && !IsAbsent(err) {
		w.add(unreadable(err))
		return
	}
	w.argument(v)
}

// sameAsEntry reports whether an argument has the value that it had at the function's entry; of a
// reference, whether the object has, too.
func sameAsEntry(v, entry *Value) bool {
	if !sameContents(v, entry) {
		return false
	}
	if entry.object == nil {
		return true
	}
	now := v.Deref()
	return sameContents(&now, entry.object)
}

func sameContents(a, b *Value) bool {
	x, err := a.Bytes()
	if err != nil {
		return false
	}
	y, err := b.Bytes()
	return err == nil && slices.Equal(x, y)
}

// AtEntry returns the value that an argument had when the function was entered, if the call site
// tells it: of the caller, or of the function that has left by a tail call (DWARF 5, section
// 3.4.2). Of an inlined call it is not known.
func (v *Variable) AtEntry() (Value, bool) {
	c := v.in
	if c == nil || v.entry == nil || c.frame.Type == frame.Inline {
		return Value{}, false
	}
	k := v.known
	if k.atEntry == nil {
		at := c.pc
		if v.entry.Listed(dwarf.AttrLocation) {
			at = c.entry() - c.scopes.bias
		}
		k.atEntry = expressionOf(v.entry, dwarf.AttrLocation, at)
		if k.atEntry.x != nil {
			k.matching = c.matching(k.atEntry.x)
		}
	}
	if k.matching == nil {
		return Value{}, false
	}
	caller, p, err := c.callerParameter(k.matching)
	if err != nil {
		return Value{}, false
	}
	n, err := caller.argument(p)
	if err != nil {
		// What the value is computed from need not be saved by the function. At its first
		// instruction, it still has it.
		if n, err = c.enteredWith(p); err != nil {
			return Value{}, false
		}
	}
	out, ok := c.argumentOf(v.Type, &n)
	if t := v.Type.Strip(); ok && (t.Kind == Reference || t.Kind == RvalueReference) {
		// The object may have changed since: without its value at the entry, the reference's value
		// means nothing.
		n, err := caller.argumentObject(p)
		if err != nil {
			return Value{}, false
		}
		object, known := c.argumentOf(t.Elem(), &n)
		out.object, ok = &object, known
	}
	return out, ok
}

// enteredWith returns the register that has an argument of a call, if the frame is at the entry of
// the function that was called.
func (c *context) enteredWith(p *callParameter) (dwarfexpr.Location, error) {
	if c.frame.Type == frame.TailCall || c.frame.PC != c.entry() || c.frame.AddressInBlock != c.frame.PC {
		return dwarfexpr.Location{}, ErrUnavailable
	}
	if len(p.at) != 1 || !isReg(p.at[0]) {
		return dwarfexpr.Location{}, ErrUnavailable
	}
	n, err := c.register(trad.Reg(p.at[0] - dwarfdata.OpReg0))
	return dwarfexpr.Location{Kind: dwarfexpr.Value, Bits: n}, err
}

// argumentOf returns a number as a value of a type, if it is as large.
func (c *context) argumentOf(t *Type, n *dwarfexpr.Location) (Value, bool) {
	size, ok := t.SizeOf()
	if !ok || size > 8 && size != uint64(n.Type.Size) {
		return Value{}, false
	}
	b := c.smallBytes(size)
	put(b, n.Bits, n.High, t.ByteOrder() == bigEndian)
	return Value{Type: t, bytes: b, read: true, frame: c, mem: c.mem}, true
}

// matching returns the function that tells the argument of a call site which the callee finds at x:
// in a register, or on the stack by the frame's base. It returns nil if x is neither.
func (c *context) matching(x *symbol.Expression) func(p *callParameter) bool {
	if len(x.Code) == 0 {
		return nil
	}
	r := dwarfdata.New(x.Code[1:], x.Order)
	switch op := x.Code[0]; {
	case isReg(op) && len(x.Code) == 1, op == dwarfdata.OpRegx:
		return func(p *callParameter) bool { return slices.Equal(p.at, x.Code) }
	case op == dwarfdata.OpFbreg:
		off := r.SLEB128()
		if r.Bad || r.More() {
			return nil
		}
		sp := c.r.Arch.SP
		return func(p *callParameter) bool {
			b := p.at
			if len(b) < 2 || !isBreg(b[0]) || uint16(b[0]-dwarfdata.OpBreg0) != uint16(sp) {
				return false
			}
			at := dwarfdata.New(b[1:], x.Order)
			n := at.SLEB128()
			return !at.Bad && !at.More() && n == off
		}
	}
	return nil
}

// localDepth is how deep GDB's bt full counts a local variable to be, without any struct around it:
// by the blanks before it.
const localDepth = 4

// Local writes a local variable as GDB's info locals does: "name = value".
func (p *Printer) Local(v *Variable) string { return string(p.AppendLocal(nil, v)) }

// AppendLocal appends Local(v) to b.
func (p *Printer) AppendLocal(b []byte, v *Variable) []byte {
	if !p.Budget.Spend(costVariable) {
		return append(append(b, v.Name...), " = ..."...)
	}
	x := &v.in.r.room.shown
	var name string
	name, *x = p.Shown(v)
	w := p.begin()
	defer w.free()
	w.add(name)
	w.add(" = ")
	if err := x.Err(); err != nil && !IsAbsent(err) {
		w.add(Error(name, err))
		return append(b, w.buf...)
	}
	w.next()
	w.depth = localDepth
	if w.top(x); w.failure != nil {
		w.add(Error(name, w.failure))
	}
	return append(b, w.buf...)
}

// Shown returns the name and the value under which a variable is shown. A variable of Go that is on
// the heap is shown as if it were not: the compiler has a pointer to it, with an ampersand before
// its name.
func (p *Printer) Shown(v *Variable) (string, Value) {
	x := v.Value()
	name, escaped := v.goEscaped()
	switch {
	case p.Raw || !escaped:
		return v.Name, x
	case x.Err() != nil:
		return name, x
	}
	return name, x.Deref()
}
