package pe

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// TestSharedNames: thousands of COFF symbols that share a long name, or parts of it, take little
// more memory than the file.
func TestSharedNames(t *testing.T) {
	const n = 40000
	for name, step := range map[string]uint32{"one": 0, "each a part": 1} {
		t.Run(name, func(t *testing.T) {
			b := small()
			le := binary.LittleEndian
			le.PutUint32(b[0x44+8:], uint32(len(b)))
			le.PutUint32(b[0x44+12:], n)
			for i := range uint32(n) {
				var s [18]byte
				le.PutUint32(s[4:], 4+step*i) // behind the size of all names
				le.PutUint32(s[8:], i%0x400)
				le.PutUint16(s[12:], 1)
				le.PutUint16(s[14:], 0x20)
				b = append(b, s[:]...)
			}
			b = append(b, 0, 0, 0, 0)
			for range n / 4000 {
				b = append(b, strings.Repeat("n", 3999)+"\x00"...)
			}
			b = append(b, 0)
			bounds.Hold(t, 32<<20, func() {
				im, err := Open(bytes.NewReader(b))
				if err != nil {
					t.Fatal(err)
				}
				if s, ok := im.Symbols().Find(0x1000); !ok || s.RVA != 0x1000 || s.Name != strings.Repeat("n", 3999) {
					t.Errorf("%v, %#x %.10s", ok, s.RVA, s.Name)
				}
			})
		})
	}
}
