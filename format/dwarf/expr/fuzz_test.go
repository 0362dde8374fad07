package expr_test

import (
	"encoding/binary"
	"errors"
	"testing"

	. "github.com/sfwalk/sfwalk/format/dwarf/expr"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzLocate evaluates arbitrary bytes.
func FuzzLocate(f *testing.F) {
	f.Add([]byte{0x38, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff}, false, false)
	f.Add([]byte{0x53, 0x93, 4, 0x93, 4, 0x9c, 0x93, 2, 0x31, 0x9f, 0x9d, 3, 5}, true, false)
	f.Add([]byte{0xa4, 2, 8, 0, 0, 0, 0, 0, 0, 4, 0xc0, 0xa8, 1, 0x9f}, false, true)
	f.Add([]byte{0x98, 9, 0, 0xa3, 1, 0x55}, false, false)
	for op := range 256 { // each operation, behind two numbers and before what takes its result
		operands := []byte{byte(op), 2, 0, 0, 0, 0, 0, 0, 0, 0x30}
		f.Add(append([]byte{0x38, 0x34}, operands...), op%2 == 0, op%3 == 0)
		f.Add(append(operands, 0x9f), false, op%2 == 0)
	}
	for ref, size := range map[byte]byte{1: 4, 2: 8, 3: 4, 4: 4, 5: 2, 6: 8, 7: 16, 8: 16, 10: 16, 11: 16} {
		constant := append([]byte{0xa4, ref, size}, 0, 0, 1, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 0, 0, 0, 0, 0xff, 0x3f)[:3+size]
		both := append(constant[:len(constant):len(constant)], constant...)
		for op := byte(0x19); op <= 0x2e; op++ { // abs to ne
			f.Add(append(both[:len(both):len(both)], op, 0x9f), false, false)
		}
		for to := range byte(12) { // DW_OP_convert, DW_OP_reinterpret
			f.Add(append(constant[:len(constant):len(constant)], 0xa8, to, 0x9f), false, false)
			f.Add(append(constant[:len(constant):len(constant)], 0xa9, to, 0x9f), to%2 == 0, false)
		}
		f.Add([]byte{0xa5, 7, ref, 0x9f}, false, false)             // DW_OP_regval_type
		f.Add([]byte{0x38, 0xa6, size, ref, 0x9f}, true, ref%2 > 0) // DW_OP_deref_type
	}
	f.Fuzz(func(t *testing.T, code []byte, big, short bool) {
		x := expression(code...)
		if big {
			x.Order = binary.BigEndian
		}
		if short {
			x.AddrSize = 4
		}
		bounds.Hold(t, 1<<20+100*len(code), func() {
			l, err := x.Locate(context())
			if err == nil && (l.Kind == Composite) != (l.Pieces != nil) {
				t.Errorf("% x: %+v", code, l)
			}
			if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnavailable) && err.Error() == "" {
				t.Errorf("% x: empty error", code)
			}
			v, err := x.Value(context())
			if err == nil && l.Kind == Memory && short && v > 1<<32-1 {
				t.Errorf("% x: address %#x of 32 bits", code, v)
			}
		})
	})
}
