package s390x

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/rowtest"
)

// BenchmarkReadFrame reads the frame in the middle of a function of middling and
// of large size, of libc.
func BenchmarkReadFrame(b *testing.B) {
	file := library(b, "libc.so.6")
	fdes := rowtest.FDEs(b, file)
	im := rowtest.Open(b, file)
	for _, size := range []struct {
		name string
		n    uint64
	}{{"300B", 300}, {"3KiB", 3 << 10}, {"30KiB", 30 << 10}} {
		f := slices.MinFunc(fdes, func(x, y *rowtest.FDE) int {
			d := func(f *rowtest.FDE) int { return max(int(f.Hi-f.Lo)-int(size.n), int(size.n)-int(f.Hi-f.Lo)) }
			return d(x) - d(y)
		})
		code, _ := im.Code(b, f.Lo, f.Hi, 0)
		pc := f.Rows[len(f.Rows)/2].Loc
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(code)))
			for b.Loop() {
				Machine.ReadFrame(code, f.Lo, pc)
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
