package expr

import "fmt"

// Operations, DWARF 5 table 7.9, and GNU's.
const (
	opAddr, opDeref                                        = 0x03, 0x06
	opConst1u, opConst1s, opConst2u, opConst2s             = 0x08, 0x09, 0x0a, 0x0b
	opConst4u, opConst4s, opConst8u, opConst8s             = 0x0c, 0x0d, 0x0e, 0x0f
	opConstu, opConsts                                     = 0x10, 0x11
	opDup, opDrop, opOver, opPick, opSwap, opRot, opXderef = 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18
	opAbs, opAnd, opDiv, opMinus, opMod, opMul, opNeg      = 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f
	opNot, opOr, opPlus, opPlusUconst, opShl, opShr        = 0x20, 0x21, 0x22, 0x23, 0x24, 0x25
	opShra, opXor, opBra                                   = 0x26, 0x27, 0x28
	opEq, opGe, opGt, opLe, opLt, opNe, opSkip             = 0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f
	opLit0, opReg0, opBreg0                                = 0x30, 0x50, 0x70
	opRegx, opFbreg, opBregx, opPiece                      = 0x90, 0x91, 0x92, 0x93
	opDerefSize, opXderefSize, opNop, opPushObject         = 0x94, 0x95, 0x96, 0x97
	opCall2, opCall4, opCallRef, opFormTLS                 = 0x98, 0x99, 0x9a, 0x9b
	opCallFrameCFA, opBitPiece, opImplicitValue            = 0x9c, 0x9d, 0x9e
	opStackValue, opImplicitPointer, opAddrx, opConstx     = 0x9f, 0xa0, 0xa1, 0xa2
	opEntryValue, opConstType, opRegvalType, opDerefType   = 0xa3, 0xa4, 0xa5, 0xa6
	opXderefType, opConvert, opReinterpret                 = 0xa7, 0xa8, 0xa9

	opGNUPushTLS, opGNUUninit                             = 0xe0, 0xf0
	opGNUImplicitPointer, opGNUEntryValue, opGNUConstType = 0xf2, 0xf3, 0xf4
	opGNURegvalType, opGNUDerefType, opGNUConvert         = 0xf5, 0xf6, 0xf7
	opGNUReinterpret, opGNUParameterRef, opGNUAddrIndex   = 0xf9, 0xfa, 0xfb
	opGNUConstIndex, opGNUVariableValue                   = 0xfc, 0xfd
)

// modern returns the operation of DWARF 5 that means the same as one of GNU's.
func modern(op byte) byte {
	switch op {
	case opGNUPushTLS:
		return opFormTLS
	case opGNUImplicitPointer:
		return opImplicitPointer
	case opGNUEntryValue:
		return opEntryValue
	case opGNUConstType:
		return opConstType
	case opGNURegvalType:
		return opRegvalType
	case opGNUDerefType:
		return opDerefType
	case opGNUConvert:
		return opConvert
	case opGNUReinterpret:
		return opReinterpret
	case opGNUAddrIndex:
		return opAddrx
	case opGNUConstIndex:
		return opConstx
	}
	return op
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func unavailable(what string) error { return failure{what, ErrUnavailable} }
