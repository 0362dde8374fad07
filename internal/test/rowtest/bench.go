package rowtest

import (
	"slices"
	"testing"
)

// BenchmarkReadFrame reads the frame in the middle of a function of small, of middling and of large
// size, of a file.
func (p *Processor) BenchmarkReadFrame(b *testing.B, file string) {
	fdes := FDEs(b, file)
	im := Open(b, file)
	for _, size := range []struct {
		name string
		n    uint64
	}{{"300B", 300}, {"3KiB", 3 << 10}, {"30KiB", 30 << 10}} {
		f := slices.MinFunc(fdes, func(x, y *FDE) int {
			d := func(f *FDE) int { return max(int(f.Hi-f.Lo)-int(size.n), int(size.n)-int(f.Hi-f.Lo)) }
			return d(x) - d(y)
		})
		code, _ := im.Code(b, f.Lo, f.Hi, 0)
		pc := f.Rows[len(f.Rows)/2].Loc
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(code)))
			for b.Loop() {
				p.Arch.ReadFrame(code, f.Lo, pc)
			}
		})
	}
}

// BenchmarkReadEpilogue reads an epilogue.
func (p *Processor) BenchmarkReadEpilogue(b *testing.B, code []byte) {
	b.ReportAllocs()
	for b.Loop() {
		p.Machine.ReadEpilogue(code, 0x1000)
	}
}

// BenchmarkAfterCall looks for a call that code ends with.
func (p *Processor) BenchmarkAfterCall(b *testing.B, code []byte) {
	b.ReportAllocs()
	for b.Loop() {
		p.Arch.AfterCall(code)
	}
}
