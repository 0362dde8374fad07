package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// coreOf makes a core of amd64 that carries one file. Each of its modules is that file.
func coreOf(file []byte, modules int) []byte {
	order := binary.LittleEndian
	words := func(list ...uint64) (b []byte) {
		for _, x := range list {
			b = order.AppendUint64(b, x)
		}
		return b
	}
	note := func(owner string, kind uint32, data []byte) []byte {
		return elfnote.Append(nil, order, owner, kind, data)
	}
	base := func(i int) uint64 { return 0x7f0000000000 + uint64(i)<<24 }
	notes := note("CORE", 1, make([]byte, 336))
	files, names := words(uint64(modules), 4096), []byte{}
	for i := range modules {
		files = append(files, words(base(i), base(i)+0x10000, 0)...)
		names = fmt.Appendf(names, "/nosuch/lib%d.so\x00", i)
	}
	notes = append(notes, note("CORE", elfnote.File, append(files, names...))...)
	one := len(note(FileNoteOwner, FileNote, make([]byte, 24)))
	at := uint64(64 + 56 + len(notes) + modules*one)
	for i := range modules {
		notes = append(notes, note(FileNoteOwner, FileNote, words(base(i), at, uint64(len(file))))...)
	}
	return append(coreOfNotes(notes, 1), file...)
}

// coreOfNotes makes a core of amd64 whose segments all are the same notes.
func coreOfNotes(notes []byte, segments int) []byte {
	order := binary.LittleEndian
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	binary.Write(&b, order, []uint16{4, 62})
	binary.Write(&b, order, uint32(1))
	binary.Write(&b, order, []uint64{0, 64, 0})
	binary.Write(&b, order, uint32(0))
	binary.Write(&b, order, []uint16{64, 56, uint16(segments), 0, 0, 0})
	for range segments {
		binary.Write(&b, order, []uint32{4, 4})
		binary.Write(&b, order, []uint64{uint64(64 + 56*segments), 0, 0, uint64(len(notes)), 0, 4})
	}
	b.Write(notes)
	return b.Bytes()
}

// One file that a core carries under many names is one image.
func TestCarriedOnce(t *testing.T) {
	file, err := os.ReadFile("../../testdata/bin/mix-v3")
	if err != nil {
		t.Fatal(err)
	}
	data := coreOf(file, 100)
	tg, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	images := map[*elf.Image]int{}
	for _, m := range tg.Modules().All() {
		im, _, err := m.Image()
		if err != nil {
			t.Fatal(err)
		}
		images[im]++
	}
	if len(images) != 1 || len(tg.Modules().All()) != 100 {
		t.Errorf("%d images of %d modules", len(images), len(tg.Modules().All()))
	}
}

// TestManyCarried: thousands of carried files are found by their paths, not looked for one by one.
func TestManyCarried(t *testing.T) {
	const n = 8000
	data := coreOf([]byte("no ELF file"), n)
	bounds.Hold(t, 64<<20, func() {
		tg, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		if got := len(tg.Modules().All()); got != n {
			t.Errorf("%d modules", got)
		}
	})
}

// TestManyVDSOs: each segment may begin with a header of the vDSO; a module more costs no new list
// of all.
func TestManyVDSOs(t *testing.T) {
	const n = 4000
	order := binary.LittleEndian
	words := func(list ...uint64) (b []byte) {
		for _, x := range list {
			b = order.AppendUint64(b, x)
		}
		return b
	}
	program := func(kind, flags uint32, off, addr, size uint64) []byte {
		return append(order.AppendUint32(order.AppendUint32(nil, kind), flags), words(off, addr, 0, size, size, 1)...)
	}
	header := func(kind byte, programs int) []byte {
		b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
		b[16], b[18], b[20], b[32], b[52], b[54] = kind, 62, 1, 64, 64, 56
		order.PutUint16(b[56:], uint16(programs))
		return b
	}
	vdso := append(header(3, 2), program(1, 5, 0, 0, 0x300)...)
	vdso = append(append(vdso, program(2, 6, 0x200, 0x200, 64)...), make([]byte, 0x300)...)[:0x300]
	copy(vdso[0x200:], words(5, 0x280, 10, 64, 14, 1, 0, 0)) // DT_STRTAB, DT_STRSZ, DT_SONAME
	copy(vdso[0x281:], "linux-vdso.so.1")
	notes := elfnote.Append(nil, order, "CORE", 1, make([]byte, 336))
	at := uint64(64 + 56*(n+1))
	data := append(header(4, n+1), program(4, 0, at, 0, uint64(len(notes)))...)
	for i := range uint64(n) {
		data = append(data, program(1, 5, at+uint64(len(notes)), 0x10000*(i+1), uint64(len(vdso)))...)
	}
	data = append(append(data, notes...), vdso...)
	bounds.Hold(t, 64<<20, func() {
		tg, err := Read(bytes.NewReader(data), int64(len(data)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		if all := tg.Modules().All(); len(all) != n || all[0].Path != "[vdso]" {
			t.Errorf("%d modules", len(all))
		}
	})
}
