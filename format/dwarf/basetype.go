package dwarf

// How the values of a base type are encoded: DW_AT_encoding, DWARF 5 table 7.11, and GCC's for
// complex integers.
const (
	ATEAddress       = 0x01
	ATEBoolean       = 0x02
	ATEComplexFloat  = 0x03
	ATEFloat         = 0x04
	ATESigned        = 0x05
	ATESignedChar    = 0x06
	ATEUnsigned      = 0x07
	ATEUnsignedChar  = 0x08
	ATEImaginary     = 0x09
	ATESignedFixed   = 0x0d
	ATEUnsignedFixed = 0x0e
	ATEDecimalFloat  = 0x0f
	ATEUTF           = 0x10
	ATEUCS           = 0x11
	ATEASCII         = 0x12
	ATEGNUComplex    = 0x80
)
