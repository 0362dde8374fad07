package expr

import (
	"encoding/binary"
	"errors"

	"github.com/sfwalk/sfwalk/trad"
)

// ErrUnavailable says that an expression needs something that is not known at this place: a
// register that no row tracks, memory that was not copied, the value at a function's entry.
var ErrUnavailable = trad.ErrUnavailable

// ErrMalformed says that an expression breaks the rules of DWARF, or the bounds of this package.
var ErrMalformed = errors.New("malformed DWARF expression")

// Expression is a DWARF expression as it lies in the debug information.
type Expression struct {
	Code       []byte
	Order      binary.ByteOrder
	AddrSize   int // bytes of an address in the unit: 4 or 8
	OffsetSize int // bytes of an offset in the unit: 4 or 8
	Version    int // of the unit
}

// Context has what an expression may ask for. Where a function is nil, the answer is not
// available. An error of a function ends the evaluation, which wraps it.
type Context struct {
	// Word is the size of the process's addresses in bytes: a unit may have shorter ones. 0: it is
	// the unit's.
	Word int
	// Typed returns the bytes of a value of a type that a register of THIS frame holds, as they
	// would lie in memory. If it is nil, they are the low bits of Register's answer.
	Typed func(trad.Reg, Type) ([]byte, error)

	Register   func(trad.Reg) (uint64, error)            // of THIS frame
	RegName    func(trad.Reg) string                     // for errors, which have the number where it is nil
	Memory     func(addr uint64, b []byte) error         // fills b
	CFA        func() (uint64, error)                    // of THIS frame
	FrameBase  func() (uint64, error)                    // DW_AT_frame_base of the function
	Bias       uint64                                    // is added to the addresses of the file
	Address    func(index uint64) (uint64, error)        // a link-time address of the unit's part of .debug_addr
	TLS        func(offset uint64) (uint64, error)       // the address of a thread's variable
	EntryValue func(x Expression) (Location, error)      // value of x when the function was entered, of the kind [Value]
	Parameter  func(ref uint64) (uint64, error)          // value that the caller passed for the parameter at ref, an offset in the unit (DW_OP_GNU_parameter_ref)
	Object     func() (uint64, error)                    // address of the object that a type's expression is about
	Call       func(op byte, ref uint64) ([]byte, error) // the expression of the entry at ref (DW_OP_call2, call4 and call_ref)
	Type       func(ref uint64) (Type, error)            // the base type at ref, an offset in the unit
	Variable   func(ref uint64) (uint64, error)          // value of the variable at ref, an offset in .debug_info (DW_OP_GNU_variable_value)
	More       func(steps int) bool                      // reports whether more may be done after so many more operations; nil if it always may
	Failure    *Failure                                  // of the same expression's evaluation before; may be nil
}

// Kind says what a [Location] is.
type Kind uint8

const (
	OptimizedOut Kind = iota // the object is nowhere
	Memory                   // at Addr
	Register                 // in Reg
	Value                    // nowhere; its value is Bits, of the type Type
	Implicit                 // nowhere; its bytes are Bytes
	Pointer                  // a pointer to an object that may be nowhere: the one at Ref, Offset bytes in
	Composite                // in Pieces
)

// Location says where an object is.
type Location struct {
	Kind   Kind
	Addr   uint64
	Reg    trad.Reg
	Bits   uint64
	High   uint64 // the upper 64 bits of a value of 16 bytes
	Type   Type
	Bytes  []byte
	Ref    uint64 // an offset in .debug_info
	Offset int64
	Pieces []Piece
}

// Piece is a part of a composite location.
type Piece struct {
	Location
	Size uint64 // in bits
	Skip uint64 // bits of the location before the piece (DW_OP_bit_piece)
}
