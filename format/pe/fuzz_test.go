package pe

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// small is an image of amd64 with one section of code, which exports a function.
func small() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0x600)
	copy(b, "MZ")
	le.PutUint32(b[0x3c:], 0x40)
	copy(b[0x40:], "PE\x00\x00")
	h := b[0x44:]
	le.PutUint16(h, pe.IMAGE_FILE_MACHINE_AMD64)
	le.PutUint16(h[2:], 1)
	le.PutUint32(h[4:], 0x5eadbeef)
	le.PutUint16(h[16:], 240)
	o := h[20:]
	le.PutUint16(o, 0x20b)
	le.PutUint32(o[16:], 0x1000)
	le.PutUint64(o[24:], 0x140000000)
	le.PutUint32(o[32:], 0x1000)
	le.PutUint32(o[36:], 0x200)
	le.PutUint32(o[56:], 0x2000)
	le.PutUint32(o[60:], 0x200)
	le.PutUint32(o[108:], 16)
	le.PutUint32(o[112:], 0x1100) // exports
	le.PutUint32(o[116:], 0x80)
	s := o[240:]
	copy(s, ".text")
	le.PutUint32(s[8:], 0x500)
	le.PutUint32(s[12:], 0x1000)
	le.PutUint32(s[16:], 0x400)
	le.PutUint32(s[20:], 0x200)
	le.PutUint32(s[36:], 0x60000020)
	e := b[0x300:]
	le.PutUint32(e[20:], 1)
	le.PutUint32(e[24:], 1)
	le.PutUint32(e[28:], 0x1140)
	le.PutUint32(e[32:], 0x1144)
	le.PutUint32(e[36:], 0x1148)
	le.PutUint32(e[0x40:], 0x1010)
	le.PutUint32(e[0x44:], 0x1150)
	copy(e[0x50:], "works\x00")
	return b
}

// TestSmall: an image by its file, and as it is mapped.
func TestSmall(t *testing.T) {
	b := small()
	mapped := make([]byte, 0x2000)
	copy(mapped, b[:0x200])
	copy(mapped[0x1000:], b[0x200:])
	for _, open := range []func() (*Image, error){
		func() (*Image, error) { return Open(bytes.NewReader(b)) },
		func() (*Image, error) { return OpenMapped(bytes.NewReader(mapped)) },
	} {
		im, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if im.Base != 0x140000000 || im.Size != 0x2000 || im.Timestamp != 0x5eadbeef || im.Entry != 0x1000 {
			t.Errorf("%+v", im)
		}
		if s, ok := im.Symbols().Find(0x1020); !ok || s != (Symbol{0x1010, "works"}) {
			t.Errorf("%+v, %v", s, ok)
		}
		p := make([]byte, 16)
		if n := im.ReadRVA(0x13f8, p); n != 16 { // zeros behind what the file has
			t.Errorf("%d bytes at the end of what the file has", n)
		}
	}
	if _, err := Open(bytes.NewReader([]byte("no image"))); err == nil {
		t.Error("a text is an image")
	}
}

// FuzzOpen opens anything, as a file and as a mapped image.
func FuzzOpen(f *testing.F) {
	f.Add(small())
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 32<<20+64*len(data), func() {
			for _, open := range []func([]byte) (*Image, error){
				func(b []byte) (*Image, error) { return Open(bytes.NewReader(b)) },
				func(b []byte) (*Image, error) { return OpenMapped(bytes.NewReader(b)) },
			} {
				im, err := open(data)
				if err != nil {
					continue
				}
				im.CodeView()
				im.Symbols().Find(0x1010)
				p := make([]byte, 64)
				for rva := uint32(0); rva < 0x4000; rva += 0x200 {
					if n := im.ReadRVA(rva, p); n > len(p) {
						t.Fatal(n)
					}
				}
				im.ReadRVA(1<<32-32, p)
			}
		})
	})
}
