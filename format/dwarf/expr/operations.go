package expr

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

// modern returns the operation of DWARF 5 that means the same as one of GNU's.
func modern(op byte) byte {
	switch op {
	case dwarf.OpGNUPushTLS:
		return dwarf.OpFormTLS
	case dwarf.OpGNUImplicitPointer:
		return dwarf.OpImplicitPointer
	case dwarf.OpGNUEntryValue:
		return dwarf.OpEntryValue
	case dwarf.OpGNUConstType:
		return dwarf.OpConstType
	case dwarf.OpGNURegvalType:
		return dwarf.OpRegvalType
	case dwarf.OpGNUDerefType:
		return dwarf.OpDerefType
	case dwarf.OpGNUConvert:
		return dwarf.OpConvert
	case dwarf.OpGNUReinterpret:
		return dwarf.OpReinterpret
	case dwarf.OpGNUAddrIndex:
		return dwarf.OpAddrx
	case dwarf.OpGNUConstIndex:
		return dwarf.OpConstx
	}
	return op
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func unavailable(what string) error { return failure{what, ErrUnavailable} }
