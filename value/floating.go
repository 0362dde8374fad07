package value

import (
	"math"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/floats"
)

// fromX87 returns the number of a register of the x87, of 10 bytes, as a float of size bytes.
func fromX87(b []byte, size int) []byte {
	const bytes = 10
	if len(b) < bytes {
		return nil
	}
	x := floats.X87
	to := x
	switch size {
	case 4:
		to = floats.Single
	case 8:
		to = floats.Double
	default: // the same number
		return append(slices.Clone(b[:bytes]), make([]byte, max(size, bytes)-bytes)...)
	}
	return to.Pack(x.Unpack(b[:bytes]), size)
}

// floating returns a number of a floating-point type.
func (v *Value) floating() (x floats.Number, ok bool, err error) {
	t := v.Type.Strip()
	if t.Kind != Float || t.Encoding == dwarfdata.ATEDecimalFloat {
		return x, false, nil
	}
	b, err := v.Bytes()
	if err != nil {
		return x, false, err
	}
	f, ok := t.formatOf(uint64(len(b)))
	if !ok {
		return x, false, nil
	}
	b = slices.Clone(b)
	if t.ByteOrder() == bigEndian {
		slices.Reverse(b)
	}
	return f.Unpack(b), true, nil
}

// fromFloat returns a number as a value of a floating-point type.
func (e *evaluation) fromFloat(t *Type, x floats.Number) Value {
	s := t.Strip()
	v := Value{Type: t, read: true, mem: e.c.mem, frame: e.c}
	size := int(s.Size)
	f, ok := s.formatOf(s.Size)
	if !ok || size > 16 || s.Encoding == dwarfdata.ATEDecimalFloat {
		v.err = ErrUnavailable
		return v
	}
	switch size {
	case 4:
		v.bytes = make([]byte, 4)
		put(v.bytes, uint64(math.Float32bits(float32(x.Near()))), 0, false)
	case 8:
		v.bytes = make([]byte, 8)
		put(v.bytes, math.Float64bits(x.Near()), 0, false)
	default:
		v.bytes = f.Pack(x, size)
	}
	if t.ByteOrder() == bigEndian {
		slices.Reverse(v.bytes)
	}
	return v
}
