package cxx

import (
	"github.com/sfwalk/sfwalk/value"
)

// stringError says what GDB does of a text that is at no address.
type stringError struct{}

func (stringError) Error() string {
	return "Cannot create a lazy string with address 0x0, and a non-zero length."
}

// Characters writes n characters at an address.
func (o *Object) Characters(addr uint64, elem *value.Type, n int64) *value.Shown {
	size, ok := elem.SizeOf()
	switch {
	case !ok || size == 0 || size > 4 || n < 0:
		return nil
	case addr == 0 && n > 0:
		return &value.Shown{Err: stringError{}}
	}
	if n = int64(int32(n)); n < 0 { // GDB counts with 32 bits, and takes such a text for an empty one
		n, addr = 0, 0
	}
	return &value.Shown{Text: o.W.Characters(o.V, addr, elem, uint64(n))}
}
