package amd64

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/rowtest"
)

// BenchmarkReadFrame reads the frame in the middle of a function of middling and
// of large size, of bash.
func BenchmarkReadFrame(b *testing.B) {
	const file = "/bin/bash"
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
	code := []byte{0x48, 0x83, 0xc4, 0x10, 0x5b, 0x5d, 0x41, 0x5c, 0xc3}
	b.ReportAllocs()
	for b.Loop() {
		Machine.ReadEpilogue(code, 0x1000)
	}
}

func BenchmarkAfterCall(b *testing.B) {
	code := []byte{0x48, 0x83, 0xc4, 0x10, 0x41, 0xff, 0x54, 0x24, 0x08}
	b.ReportAllocs()
	for b.Loop() {
		afterCall(code)
	}
}
