package cxx

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// Object is an object of a C++ library that is to be written.
type Object struct {
	W    *value.Writer
	V    *value.Value
	T    *value.Type
	Name string // of the type, without the template's arguments, and without libc++'s namespace
	ABI  string // libc++'s namespace, within std: "__1::"; "" of other libraries
}

// Without returns a name without the namespace of libc++'s ABI.
func (o *Object) Without(name string) string {
	if o.ABI == "" {
		return name
	}
	return strings.ReplaceAll(name, "std::"+o.ABI, "std::")
}

// PointerTo returns the pointer that a member is, and what it points to.
func (o *Object) PointerTo(names ...string) (addr uint64, elem *value.Type, ok bool) {
	m, ok := Member(o.V, names...)
	if !ok {
		return 0, nil, false
	}
	t := m.Type.Strip()
	addr, err := m.Uint()
	if t.Kind != value.Pointer || err != nil {
		return 0, nil, false
	}
	return addr, t.Elem(), true
}

// Number returns the number that a member is.
func (o *Object) Number(names ...string) (int64, bool) {
	m, ok := Member(o.V, names...)
	if !ok {
		return 0, false
	}
	n, err := m.Int()
	return n, err == nil
}

// Word reads a pointer from memory.
func (o *Object) Word(addr uint64) (uint64, error) {
	var b [8]byte
	n := o.T.Reader().Arch.PtrSize
	addr = o.Wrap(addr)
	if err := o.V.ReadMemory(addr, b[:n]); err != nil {
		return 0, err
	}
	if n == 4 {
		return uint64(o.T.ByteOrder().Uint32(b[:])), nil
	}
	return o.T.ByteOrder().Uint64(b[:]), nil
}

// PtrSize returns the size of a pointer.
func (o *Object) PtrSize() uint64 { return uint64(o.T.Reader().Arch.PtrSize) }

// Wrap cuts an address to the size of a pointer.
func (o *Object) Wrap(addr uint64) uint64 { return o.T.Reader().Arch.Wrap(addr) }

// At returns the object of a type at an address.
func (o *Object) At(t *value.Type, addr uint64) value.Value { return o.V.At(t, addr) }

// TextOf writes an object as the text of a value, with something before and behind.
func (o *Object) TextOf(before string, v *value.Value, behind string) *value.Shown {
	text, err := o.W.Text(v)
	return &value.Shown{Text: before + text + behind, Err: err}
}
