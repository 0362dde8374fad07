package v8

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// TestChromiumVersion: V8's release is known by Chromium's and V8's own together.
func TestChromiumVersion(t *testing.T) {
	far := make([]byte, 1<<20-10) // the text is on the border of what is read at once
	for _, c := range []struct {
		text  string
		note  bool
		major int
		minor int
	}{
		{"\x0015.0.245.13\x00Chrome/150.0.7871.100\x00", true, 15, 0},
		{"\x0015.2.124\x00" + string(far) + "\x00152.0.7977.0\x00", true, 15, 2},
		{"\x00150.0.7871.100\x00" + string(far) + "\x0015.0.245.13-electron.0\x00", true, 15, 0},
		{"\x00153.0.8010.0\x00\x0015.6.75.63\x00\x00156.0.8078.114\x00", true, 15, 6}, // another one's version
		{"\x00150.0.7871.100\x00", true, 0, 0},
		{"\x0015.0.245.13\x00", true, 0, 0},
		{"\x0015.0.245.13.1\x00Chrome/150.0.7871.100\x00", true, 0, 0},
		{"\x0015.0.245.13\x00Chrome/150.0.7871.100\x00", false, 0, 0},
	} {
		im := imageOf(t, c.text, c.note)
		major, minor := 0, 0
		if isChromium(im) {
			major, minor = chromiumVersion(im)
		}
		if major != c.major || minor != c.minor {
			t.Errorf("%.60q: %d.%d", c.text, major, minor)
		}
	}
}

// imageOf makes a file with texts.
func imageOf(t *testing.T, text string, note bool) *elfimage.Image {
	t.Helper()
	f := elftest.File{Class: elf.ELFCLASS64, Order: binary.LittleEndian, Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{
		{Name: ".rodata", Flags: elf.SHF_ALLOC, Addr: 0x1000, Data: []byte(text)},
	}}
	if note {
		f.Sections = append(f.Sections, elftest.Section{Name: crashpadNote, Type: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Addr: 0x400000, Data: make([]byte, 32)})
	}
	file := f.Bytes()
	im, err := elfimage.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// FuzzChromiumVersion looks for versions in files that have anything.
func FuzzChromiumVersion(f *testing.F) {
	f.Add("\x0015.0.245.13\x00Chrome/150.0.7871.100\x00")
	f.Fuzz(func(t *testing.T, text string) {
		im := imageOf(t, text, true)
		bounds.Hold(t, 8<<20+64*len(text), func() { chromiumVersion(im) })
	})
}
