package value

import (
	"math/big"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch/abi"
	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/internal/floats"
)

// bigNumber returns an integer of any size.
func bigNumber(b []byte, order bool, signed bool) *big.Int {
	b = slices.Clone(b)
	if !order {
		slices.Reverse(b)
	}
	n := new(big.Int).SetBytes(b)
	if signed && len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// formatOf returns the format of a float of n bytes.
func (t *Type) formatOf(n uint64) (f floats.Format, ok bool) {
	switch n {
	case 2:
		if strings.Contains(t.Name, "bf16") || strings.Contains(t.Name, "bfloat16") {
			return floats.BFloat16, true
		}
		return floats.Half, true
	case 4:
		return floats.Single, true
	case 8:
		return floats.Double, true
	case 10, 12, 16:
		if t.r.Arch.LongDouble == abi.X87 && !strings.Contains(t.Name, "loat128") {
			return floats.X87, true
		}
		if n == 16 {
			return floats.Quad, true
		}
	}
	return floats.Format{}, false
}

// FloatText writes a floating-point number with as many digits as tell it from all others.
func (t *Type) FloatText(b []byte) string {
	if t.Encoding == dwarfdata.ATEDecimalFloat {
		return t.decimalText(b)
	}
	f, ok := t.formatOf(uint64(len(b)))
	if !ok {
		return "<unknown type>"
	}
	b = slices.Clone(b)
	if t.ByteOrder() == bigEndian {
		slices.Reverse(b)
	}
	return f.Text(b)
}

// complex writes a complex number: 1 + 2i.
func (w *Writer) complex(v *Value, t *Type, b []byte) {
	half := len(b) / 2
	parts := [2]string{}
	for i := range parts {
		part := b[i*half : (i+1)*half]
		parts[i] = t.FloatText(part)
	}
	w.Put(parts[0] + " + " + parts[1] + "i")
}
