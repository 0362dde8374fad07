package dwarfexpr_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/internal/bounds"
	. "github.com/sfwalk/sfwalk/internal/dwarfexpr"
)

// FuzzLocate evaluates arbitrary bytes.
func FuzzLocate(f *testing.F) {
	f.Add([]byte{0x38, 0x31, 0x1c, 0x12, 0x28, 0xfa, 0xff}, false, false)
	f.Add([]byte{0x53, 0x93, 4, 0x93, 4, 0x9c, 0x93, 2, 0x31, 0x9f, 0x9d, 3, 5}, true, false)
	f.Add([]byte{0xa4, 2, 8, 0, 0, 0, 0, 0, 0, 4, 0xc0, 0xa8, 1, 0x9f}, false, true)
	f.Add([]byte{0x98, 9, 0, 0xa3, 1, 0x55}, false, false)
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
