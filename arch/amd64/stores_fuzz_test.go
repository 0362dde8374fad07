package amd64

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzStores reads any code for the numbers that it stores, and for how it begins.
func FuzzStores(f *testing.F) {
	f.Add([]byte("\x41\x56\x53\x50\x48\x89\xfb\x0f\xb6\x47\x3c\x85\xc0\x74\x05\xb9\x06\x00\x00\x00\x66\x89\x4b\x50\xc3"))
	f.Add([]byte("\xb9\x04\x00\x00\x00\xeb\x05\xb9\x06\x00\x00\x00\x66\x89\x4b\x50"))
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) > 1<<12 {
			return
		}
		bounds.Hold(t, 1<<20+256*len(code), func() { readStores(t, code) })
	})
}

func readStores(t *testing.T, code []byte) {
	t.Helper()
	n := 0
	Arch.Stores(code, 0x50, 2, func(at int, value uint64) bool {
		if at < 0 || at >= len(code) || value > 0xffff {
			t.Errorf("%#x stored at %d", value, at)
		}
		n++
		return true
	})
	if n > 4*len(code) {
		t.Errorf("%d stores in %d bytes", n, len(code))
	}
	if off, width, ok := Arch.Dispatch(code); ok && (off < 0 || width < 1 || width > 4) {
		t.Errorf("%d bytes at %d", width, off)
	}
}
