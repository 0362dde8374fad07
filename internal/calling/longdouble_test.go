package calling

import (
	"encoding/binary"
	"math"
	"testing"
)

// Numbers are what they were after both ways; the bytes of some are gcc's.
func TestLongDouble(t *testing.T) {
	for _, v := range []float64{0, 1, -1, 1.5, math.Pi, 1e300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1), -2.5e-310, math.Copysign(0, -1)} {
		for name, got := range map[string]float64{
			"x87": fromX87(toX87(v)), "little": fromQuad(toQuad(v, binary.LittleEndian), binary.LittleEndian), "big": fromQuad(toQuad(v, binary.BigEndian), binary.BigEndian),
		} {
			if math.Float64bits(got) != math.Float64bits(v) {
				t.Errorf("%s: %g, want %g", name, got, v)
			}
		}
	}
	if !math.IsNaN(fromX87(toX87(math.NaN()))) || !math.IsNaN(fromQuad(toQuad(math.NaN(), binary.BigEndian), binary.BigEndian)) {
		t.Error("NaN is a number")
	}
}
