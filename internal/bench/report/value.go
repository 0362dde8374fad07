package report

import (
	"fmt"
	"slices"
	"time"
)

// A Value is a number with its unit.
type Value struct {
	Number float64
	Unit   Unit
}

// Unit is what a Value's number counts.
type Unit uint8

const (
	Nanoseconds Unit = iota
	Bytes
	Things // that are counted
)

// Time returns a duration as a Value.
func Time(d time.Duration) Value { return Value{float64(d), Nanoseconds} }

// Count returns a number of things as a Value.
func Count(n int) Value { return Value{float64(n), Things} }

// Memory returns a number of bytes as a Value.
func Memory(bytes int64) Value { return Value{float64(bytes), Bytes} }

var scales = [...][]struct {
	size float64
	name string
}{
	Nanoseconds: {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}},
	Bytes:       {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}},
}

// String formats at least three digits, in the unit that makes them readable.
func (v Value) String() string {
	if v.Unit == Things {
		return fmt.Sprintf("%.0f", v.Number)
	}
	scale := scales[v.Unit]
	i := 0
	for i < len(scale)-1 && v.Number < scale[i].size {
		i++
	}
	n := v.Number / scale[i].size
	switch {
	case n < 10:
		return fmt.Sprintf("%.2f %s", n, scale[i].name)
	case n < 100:
		return fmt.Sprintf("%.1f %s", n, scale[i].name)
	}
	return fmt.Sprintf("%.0f %s", n, scale[i].name)
}

// Median returns the middle one of the samples, which it sorts; 0 if there are none.
func Median[T int64 | float64 | time.Duration](samples []T) T {
	if len(samples) == 0 {
		return 0
	}
	slices.Sort(samples)
	return samples[len(samples)/2]
}
