package calling

import (
	"debug/dwarf"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/internal/floats"
	"github.com/sfwalk/sfwalk/value"
)

// Value is the result of an expression.
type Value struct {
	abi.Value
	TypeName string     // as C writes it
	dwarf    dwarf.Type // nil if it is not known
	text     string     // of a string that is not in the process yet
	isText   bool
	elements []Value // of an array that is not in the process yet

	of         *value.Type  // as debug information has it; nil if it comes from elsewhere
	array      *value.Value // the array whose address this is; nil for other values
	at         uint64       // its address in the process, if hasAddress is set
	hasAddress bool
}

// Those of C's own types that are the same on all processors.
var (
	charType      = &abi.Type{Kind: abi.Integer, Size: 1, Signed: true}
	intType       = &abi.Type{Kind: abi.Integer, Size: 4, Signed: true}
	uintType      = &abi.Type{Kind: abi.Integer, Size: 4}
	longLongType  = &abi.Type{Kind: abi.Integer, Size: 8, Signed: true}
	ulongLongType = &abi.Type{Kind: abi.Integer, Size: 8}
	floatType     = &abi.Type{Kind: abi.Float, Size: 4}
	doubleType    = &abi.Type{Kind: abi.Float, Size: 8}
	voidType      = &abi.Type{Kind: abi.Void}
)

// byteOrder is a processor's order of bytes, which can append.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// integerValue makes a value of an integer or a pointer.
func integerValue(t *abi.Type, name string, v uint64, order binary.ByteOrder) Value {
	return Value{Value: abi.Value{Type: t, Bytes: putInteger(v, t.Size, order)}, TypeName: name}
}

func putInteger(v uint64, size uint64, order binary.ByteOrder) []byte {
	b := make([]byte, 16)
	if order == binary.ByteOrder(binary.BigEndian) {
		if int64(v) < 0 {
			binary.BigEndian.PutUint64(b, math.MaxUint64)
		}
		binary.BigEndian.PutUint64(b[8:], v)
		return b[16-size:]
	}
	binary.LittleEndian.PutUint64(b, v)
	if int64(v) < 0 {
		binary.LittleEndian.PutUint64(b[8:], math.MaxUint64)
	}
	return b[:size]
}

func floatValue(t *abi.Type, name string, v float64, order byteOrder) Value {
	var b []byte
	switch {
	case t.Kind == abi.X87:
		b = floats.X87.Pack(floats.Number{F: v}, int(t.Size))
	case t.Size == 16:
		b = swapped(floats.Quad.Pack(floats.Number{F: v}, 16), order)
	case t.Size == 4:
		b = order.AppendUint32(nil, math.Float32bits(float32(v)))
	default:
		b = order.AppendUint64(nil, math.Float64bits(v))
	}
	return Value{Value: abi.Value{Type: t, Bytes: b}, TypeName: name}
}

// integer returns the value of an integer or a pointer of at most 8 bytes.
func (v *Value) integer(order binary.ByteOrder) (n uint64, ok bool) {
	if v.isText || v.elements != nil || v.Type.Kind != abi.Integer && v.Type.Kind != abi.Pointer || v.Type.Size > 8 {
		return 0, false
	}
	for i := range v.Bytes {
		b := v.Bytes[i]
		if order == binary.ByteOrder(binary.LittleEndian) {
			b = v.Bytes[len(v.Bytes)-1-i]
		}
		n = n<<8 | uint64(b)
	}
	if unused := 64 - 8*v.Type.Size; v.Type.Signed {
		n = uint64(int64(n<<unused) >> unused)
	}
	return n, true
}

// float returns the value of a floating-point number, as near as 64 bits come.
func (v *Value) float(order binary.ByteOrder) (f float64, ok bool) {
	if v.isText || v.elements != nil {
		return 0, false
	}
	if v.Type.Kind == abi.X87 && len(v.Bytes) >= x87Bytes {
		return floats.X87.Unpack(v.Bytes[:x87Bytes]).Near(), true
	}
	if v.Type.Kind != abi.Float {
		return 0, false
	}
	switch v.Type.Size {
	case 4:
		return float64(math.Float32frombits(order.Uint32(v.Bytes))), true
	case 8:
		return math.Float64frombits(order.Uint64(v.Bytes)), true
	case 16:
		return floats.Quad.Unpack(swapped(v.Bytes, order)).Near(), true
	}
	return 0, false
}

// x87Bytes is how many bytes of a long double of x86 count.
const x87Bytes = 10

// swapped returns a copy of a number's bytes, from little-endian order to another one or back.
func swapped(b []byte, order binary.ByteOrder) []byte {
	b = slices.Clone(b)
	if order == binary.ByteOrder(binary.BigEndian) {
		slices.Reverse(b)
	}
	return b
}
