package value

import (
	"errors"
	"fmt"
	"slices"

	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Place says where a Value is.
type Place uint8

const (
	Nowhere    Place = iota // computed, or constant
	InMemory                // at Addr
	InRegister              // in Reg, and maybe others
	InPieces                // in several places
)

// Value is a value of a type in a frame. Parts of it may not be known.
type Value struct {
	Type  *Type
	Place Place
	Addr  uint64   // in memory
	Reg   trad.Reg // in a register
	// Bits is the size of a bit-field; 0 for other values.
	Bits uint64

	err    error  // why nothing of the value is known
	bytes  []byte // nil until they are read
	read   bool
	gaps   []gap
	mem    target.Memory
	object *Value   // of a reference at a function's entry: what it referred to then
	bare   bool     // of a pointer of Go: it is written as an address, because it comes from a conversion
	frame  *context // of the variable that the value is, or is a part of; nil for others
}

// gap are bits of a value that are not known.
type gap struct {
	lo, hi uint64 // bits from the beginning
	why    error
	to     *pointee // of a pointer to something that is nowhere
}

// pointee is an object that is in no memory, to which a pointer points.
type pointee struct {
	value  Value
	offset int64
}

var (
	// ErrOptimizedOut says that the compiler keeps a value nowhere.
	ErrOptimizedOut = errors.New("optimized out")
	// ErrUnavailable says that a value is somewhere, but that the register or the memory is not
	// known.
	ErrUnavailable = dwarfexpr.ErrUnavailable
	// ErrNotSaved says that a value was in a register that a call may have changed.
	ErrNotSaved = errors.New("not saved")
	// ErrSynthetic says that a pointer points to an object that is in no memory. [Value.Deref]
	// returns the object.
	ErrSynthetic = errors.New("synthetic pointer")
	// ErrTooLarge says that an object has more bytes than are read of one.
	ErrTooLarge = errors.New("value is too large")
)

// MemoryError says that memory cannot be read.
type MemoryError struct{ Addr uint64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("Cannot access memory at address %#x", e.Addr)
}

// maxRead bounds the bytes that are read of one object, and so the bytes of all values that are
// part of it.
const maxRead = 1 << 16

// Err returns why nothing of the value is known; nil if some of it is.
func (v *Value) Err() error {
	v.load()
	if v.err == nil && len(v.gaps) > 0 {
		if n, ok := v.size(); ok {
			if why, all := v.missing(0, 8*n); all {
				return why
			}
		}
	}
	return v.err
}

// size returns the size of the value in bytes.
func (v *Value) size() (n uint64, ok bool) {
	if v.Type == nil {
		return 0, false
	}
	return v.Type.SizeOf()
}

// load reads the bytes of a value in memory, unless it is too large to be read as a whole.
func (v *Value) load() {
	if v.read || v.Place != InMemory || v.err != nil {
		return
	}
	n, ok := v.size()
	if !ok || n > maxRead {
		return
	}
	v.read = true
	v.bytes = v.frame.smallBytes(n)
	if v.err = v.ReadMemory(v.Addr, v.bytes); v.Type.r != nil {
		cost := int(n / 64)
		if v.err != nil {
			cost += costMissing
		}
		v.Type.r.Budget.Spend(cost)
	}
}

// ReadMemory fills b with memory of the value's process, as it was when the value was read. Else
// the error is a [MemoryError].
func (v *Value) ReadMemory(addr uint64, b []byte) error { return readMemory(v.mem, addr, b) }

func readMemory(mem target.Memory, addr uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if mem == nil {
		return &MemoryError{addr}
	}
	if n, err := mem.ReadMemory(addr, b); err != nil || n < len(b) {
		return &MemoryError{addr}
	}
	return nil
}

// Bytes returns the bytes of the value as they lie in memory. The error says why some of them are
// not known. The caller must not change the bytes.
func (v *Value) Bytes() ([]byte, error) {
	v.load()
	if v.err != nil {
		return nil, v.err
	}
	if len(v.gaps) > 0 {
		return nil, v.gaps[0].why
	}
	if v.bytes == nil {
		if v.Type == nil { // a member that an object should have, and does not
			return nil, ErrUnavailable
		}
		if n, ok := v.size(); ok && n == 0 {
			return nil, nil
		}
		return nil, ErrTooLarge
	}
	return v.bytes, nil
}

// missing returns why bits of the value are not known, nil if they are. all says that this goes for
// all of them.
func (v *Value) missing(lo, hi uint64) (why error, all bool) {
	if v.err != nil {
		return v.err, true
	}
	for at, first := lo, true; ; first = false {
		i := slices.IndexFunc(v.gaps, func(g gap) bool { return g.lo <= at && at < g.hi })
		if i < 0 {
			break
		}
		if first {
			why = v.gaps[i].why
		} else if v.gaps[i].why != why {
			return why, false
		}
		if at = v.gaps[i].hi; at >= hi {
			return why, true
		}
	}
	for _, g := range v.gaps {
		if g.lo < hi && g.hi > lo {
			return g.why, false
		}
	}
	return nil, false
}

// part returns the n bytes at an offset of the value, as a value of another type.
func (v *Value) part(t *Type, offset int64, n uint64) Value {
	p := Value{Type: t, Place: v.Place, Reg: v.Reg, mem: v.mem, frame: v.frame}
	if v.Place == InMemory {
		p.Addr = v.Addr + uint64(offset)
	}
	v.load()
	if v.err != nil {
		p.err = v.err
		return p
	}
	if v.bytes == nil {
		if v.Place != InMemory && n > 0 {
			p.err = ErrUnavailable
		}
		return p // read when it is asked for
	}
	size := uint64(len(v.bytes))
	if offset < 0 || uint64(offset) > size || n > size-uint64(offset) {
		if v.Place == InMemory { // such as the elements of a flexible array
			return p
		}
		p.err = ErrUnavailable
		return p
	}
	p.read = true
	p.bytes = v.bytes[offset : uint64(offset)+n]
	for _, g := range v.gaps {
		lo, hi := 8*uint64(offset), 8*(uint64(offset)+n)
		if g.lo < hi && g.hi > lo {
			p.gaps = append(p.gaps, gap{max(g.lo, lo) - lo, min(g.hi, hi) - lo, g.why, g.to})
		}
	}
	return p
}

// Field returns a member of a struct or union. Of a virtual base it has no bytes.
func (v *Value) Field(f *Field) Value {
	switch {
	case f.Static:
		return v.Type.r.static(f, v)
	case f.Virtual:
		return v.virtualBase(f)
	case f.Bits > 0:
		return v.bitField(f)
	}
	n, ok := f.Type.SizeOf()
	if !ok {
		n = 0
	}
	return v.part(f.Type, f.Offset, n)
}

// bitField returns a bit-field as a value of the size of its type.
func (v *Value) bitField(f *Field) Value {
	size, ok := f.Type.SizeOf()
	p := Value{Type: f.Type, Place: v.Place, Addr: v.Addr + uint64(f.Offset), Reg: v.Reg, Bits: f.Bits, mem: v.mem, frame: v.frame, read: true}
	bytes := (f.BitOffset + f.Bits + 7) / 8
	if !ok || size > 16 || f.Bits > 8*size || f.Offset < 0 {
		p.err = ErrUnavailable
		return p
	}
	v.load()
	if v.err != nil {
		p.err = v.err
		return p
	}
	raw := make([]byte, bytes)
	if end := uint64(f.Offset) + bytes; end <= uint64(len(v.bytes)) {
		copy(raw, v.bytes[f.Offset:end])
	} else if v.Place != InMemory || v.ReadMemory(p.Addr, raw) != nil {
		p.err = &MemoryError{p.Addr}
		return p
	}
	lo := 8*uint64(f.Offset) + f.BitOffset
	if why, _ := v.missing(lo, lo+f.Bits); why != nil {
		p.gaps = []gap{{0, 8 * size, why, nil}}
	}
	order := v.Type.r.order()
	p.bytes = make([]byte, size)
	signed := f.Type.Strip().isSigned()
	put := func(i uint64, bit byte) { // the i-th bit from the lowest
		if order == bigEndian {
			p.bytes[size-1-i/8] |= bit << (i % 8)
		} else {
			p.bytes[i/8] |= bit << (i % 8)
		}
	}
	var bit byte
	for i := range 8 * size {
		if i < f.Bits {
			if at := f.BitOffset + i; order == bigEndian {
				at = f.BitOffset + f.Bits - 1 - i
				bit = raw[at/8] >> (7 - at%8) & 1
			} else {
				bit = raw[at/8] >> (at % 8) & 1
			}
		} else if !signed {
			break
		}
		put(i, bit)
	}
	return p
}

// isSigned reports whether numbers of a type have a sign.
func (t *Type) isSigned() bool {
	switch t.Kind {
	case Integer, Char:
		return t.Signed
	case Enum:
		if t.Elem().Kind != Void {
			return t.Elem().Strip().isSigned()
		}
		for _, e := range t.Enumerators() {
			if e.Value < 0 {
				return true
			}
		}
	case Subrange:
		return t.Elem().Strip().isSigned()
	}
	return false
}

// Index returns element i of an array, counted from 0.
func (v *Value) Index(i uint64) Value {
	t := v.Type.Strip()
	elem := t.Elem()
	n, ok := elem.SizeOf()
	step := n
	if b := t.Bounds(); b.Stride != 0 {
		step = b.Stride
	}
	far := step
	if int64(far) < 0 { // backwards
		far = -far
	}
	if !ok || far != 0 && i > maxObject/far {
		return Value{Type: elem, err: ErrUnavailable}
	}
	return v.part(elem, int64(i*step), n)
}

// Deref returns what a pointer or a reference points to.
func (v *Value) Deref() Value {
	t := v.Type.Strip()
	return v.DerefAs(t.Elem())
}

// DerefAs is Deref where the object is of another type than the pointer says.
func (v *Value) DerefAs(elem *Type) Value {
	if v.object != nil {
		return *v.object
	}
	for _, g := range v.gaps {
		if g.to != nil {
			n, _ := elem.SizeOf()
			to := g.to.value
			return to.part(elem, g.to.offset, n)
		}
	}
	addr, err := v.Uint()
	if err != nil {
		return Value{Type: elem, err: err}
	}
	return v.At(elem, addr)
}

// At returns the object of a type at an address, in the same memory as the value.
func (v *Value) At(t *Type, addr uint64) Value {
	return Value{Type: t, Place: InMemory, Addr: v.Type.r.Arch.Wrap(addr), mem: v.mem, frame: v.frame}
}

// Uint returns the value's bytes as a number without a sign, of its lowest 64 bits.
func (v *Value) Uint() (uint64, error) {
	b, err := v.Bytes()
	if err != nil {
		return 0, err
	}
	return number(b, v.Type.ByteOrder() == bigEndian), nil
}

// Int returns the value as a number, with a sign if its type has one.
func (v *Value) Int() (int64, error) {
	n, err := v.Uint()
	if err != nil {
		return 0, err
	}
	if size := uint64(len(v.bytes)); size < 8 && v.Type.Strip().isSigned() {
		shift := 64 - 8*size
		return int64(n<<shift) >> shift, nil
	}
	return int64(n), nil
}

func number(b []byte, big bool) (n uint64) {
	if big {
		for _, x := range b[max(0, len(b)-8):] {
			n = n<<8 | uint64(x)
		}
		return n
	}
	for i, x := range b[:min(8, len(b))] {
		n |= uint64(x) << (8 * i)
	}
	return n
}

// String writes the value in one line, with GDB's limits.
func (v *Value) String() string { return (&Printer{}).Text(v) }
