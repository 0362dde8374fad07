package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/elfnote"
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
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	binary.Write(&b, order, []uint16{4, 62})
	binary.Write(&b, order, uint32(1))
	b.Write(words(0, 64, 0))
	binary.Write(&b, order, uint32(0))
	binary.Write(&b, order, []uint16{64, 56, 1, 0, 0, 0})
	binary.Write(&b, order, []uint32{4, 4})
	b.Write(words(120, 0, 0, uint64(len(notes)), 0, 4))
	b.Write(notes)
	b.Write(file)
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
	images := map[*elfimage.Image]int{}
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
