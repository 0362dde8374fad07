package elf

import (
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// BenchmarkSymbols reads the C library's symbols.
func BenchmarkSymbols(b *testing.B) {
	f, err := os.Open(gdbtest.File(b, libc))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		im, err := Open(f, st.Size())
		if err != nil {
			b.Fatal(err)
		}
		if im.Symbols().Len() == 0 {
			b.Fatal("no symbols")
		}
	}
}
