package floats

import (
	"encoding/hex"
	"math"
	"testing"
)

// The bytes are gcc's, of the numbers as long double, _Float128, _Float16, float and double; the
// upper half of a float's are a bfloat16's.
func TestFormats(t *testing.T) {
	for _, tt := range []struct {
		format Format
		number float64
		bytes  string // in little-endian order
	}{
		{X87, 1, "0000000000000080ff3f"},
		{X87, -2, "000000000000008000c0"},
		{X87, math.Pi, "00c06821a2da0fc90040"},
		{X87, math.Inf(1), "0000000000000080ff7f"},
		{X87, 5e-324, "0000000000000080cd3b"},
		{Quad, 1, "0000000000000000000000000000ff3f"},
		{Quad, math.Pi, "0000000000000080d14244b51f920040"},
		{Quad, math.Inf(-1), "0000000000000000000000000000ffff"},
		{Half, 1, "003c"},
		{Half, 65504, "ff7b"},
		{Half, 0x1p-24, "0100"},
		{BFloat16, -1.5, "c0bf"},
		{Single, 0.1, "cdcccc3d"},
		{Double, 0.1, "9a9999999999b93f"},
	} {
		if got := hex.EncodeToString(tt.format.Pack(Number{F: tt.number}, len(tt.bytes)/2)); got != tt.bytes {
			t.Errorf("%+v: %g is %s, want %s", tt.format, tt.number, got, tt.bytes)
		}
	}
}

// Numbers are what they were after both ways.
func TestBothWays(t *testing.T) {
	for _, v := range []float64{
		0, 1, -1, 1.5, math.Pi, 1e300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), -2.5e-310, math.Copysign(0, -1),
	} {
		for _, f := range []Format{X87, Quad, Double} {
			if got := f.Unpack(f.Pack(Number{F: v}, 16)).Near(); math.Float64bits(got) != math.Float64bits(v) {
				t.Errorf("%+v: %g, want %g", f, got, v)
			}
		}
	}
	for _, f := range []Format{X87, Quad} {
		if got := f.Unpack(f.Pack(Number{F: math.NaN()}, 16)).Near(); !math.IsNaN(got) {
			t.Errorf("%+v: NaN is %g", f, got)
		}
	}
}
