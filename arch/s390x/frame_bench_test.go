//go:build linux

package s390x

import (
	"slices"
	"testing"
)

// BenchmarkReadFrame reads the frame in the middle of a function of middling and
// of large size, of libc.
func BenchmarkReadFrame(b *testing.B) {
	file := library(b, "libc.so.6")
	fdes := readFDEs(b, file)
	im := openImage(b, file)
	for _, size := range []struct {
		name string
		n    uint64
	}{{"300B", 300}, {"3KiB", 3 << 10}, {"30KiB", 30 << 10}} {
		f := slices.MinFunc(fdes, func(x, y *oracleFDE) int {
			d := func(f *oracleFDE) int { return max(int(f.hi-f.lo)-int(size.n), int(size.n)-int(f.hi-f.lo)) }
			return d(x) - d(y)
		})
		code, _ := im.code(b, f.lo, f.hi, 0)
		pc := f.rows[len(f.rows)/2].loc
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(code)))
			for b.Loop() {
				Machine.ReadFrame(code, f.lo, pc)
			}
		})
	}
}

func BenchmarkReadEpilogue(b *testing.B) {
	code := code(lmgR11, br14)
	b.ReportAllocs()
	for b.Loop() {
		Machine.ReadEpilogue(code, 0x1000)
	}
}

func BenchmarkAfterCall(b *testing.B) {
	code := code(lmgR11, call)
	b.ReportAllocs()
	for b.Loop() {
		afterCall(code)
	}
}
