package target

import (
	"os"
	"testing"
)

// BenchmarkSymbols reads the C library's symbols.
func BenchmarkSymbols(b *testing.B) {
	f, err := os.Open("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		im, err := OpenImage(f, st.Size())
		if err != nil {
			b.Fatal(err)
		}
		if im.Symbols().Len() == 0 {
			b.Fatal("no symbols")
		}
	}
}
