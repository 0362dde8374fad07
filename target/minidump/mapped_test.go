package minidump

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// exporting is an image of amd64 as it is mapped, which exports a function under n names.
func exporting(n int) []byte {
	const name = 150
	b := make([]byte, (0x2050+6*n+name+0xfff)&^0xfff)
	le := binary.LittleEndian
	put := func(at int, list ...uint32) {
		for i, v := range list {
			le.PutUint32(b[at+4*i:], v)
		}
	}
	copy(b, "MZ")
	put(0x3c, 0x40)
	copy(b[0x40:], "PE\x00\x00\x64\x86\x01\x00")
	put(0x48, 0x1234, 0, 0, 240) // time stamp; size of the optional header
	const optional, section = 0x58, 0x58 + 240
	put(optional, 0x20b)
	put(optional+32, 0x1000, 0x200)
	put(optional+56, uint32(len(b)), 0x1000)
	put(optional+108, 16, 0x2000, 48) // directories: exports
	copy(b[section:], ".text")
	put(section+8, uint32(len(b)-0x1000), 0x1000, uint32(len(b)-0x1000), 0x1000)
	put(section+36, 0x60000020)
	put(0x2000+20, 1, uint32(n), 0x2040, 0x2050, uint32(0x2050+4*n))
	put(0x2040, 0x1000)
	names := 0x2050 + 6*n
	for i := range n {
		put(0x2050+4*i, uint32(names))
	}
	copy(b[names:], strings.Repeat("n", name-1))
	return b
}

// TestManyMapped: any number of modules may have the same bytes of a dump as their image; what is
// read of all has a bound, and a warning says so.
func TestManyMapped(t *testing.T) {
	const n = 200
	d := dumptest.New()
	d.System(9, 2, "")
	image := exporting(40000)
	at := d.At(image)
	name := d.Text(`C:\a.dll`)
	modules, memory := d.U32(n), d.U32(n)
	base := func(i int) uint64 { return 0x1_8000_0000 + 0x1000_0000*uint64(i) }
	for i := range n {
		modules = append(modules, dumptest.Join(d.U64(base(i)), d.U32(uint32(len(image)), 0, 0x1234, name), make([]byte, 52+8+8+16))...)
		memory = append(memory, dumptest.Join(d.U64(base(i)), at)...)
	}
	d.Stream(4, modules)
	d.Stream(5, memory)
	b := d.Bytes(1)
	tg := targetOf(t, b)
	bounds.Hold(t, 8*maxMapped, func() {
		named := 0
		for i := range n {
			im, err := tg.Modules().Find(base(i) + 0x1000).PE()
			if err != nil {
				break
			}
			if s, ok := im.Symbols().Find(0x1000); ok && len(s.Name) == 149 && bytes.Equal(bytes.Trim([]byte(s.Name), "n"), nil) {
				named++
			}
		}
		if named < 3 || named > maxMapped/(128*40000) {
			t.Errorf("%d of %d modules have names", named, n)
		}
	})
	if said := strings.Join(tg.Warnings(), "\n"); strings.Count(said, "more than 64 MiB together") != 1 {
		t.Errorf("%.300q", said)
	}
}
