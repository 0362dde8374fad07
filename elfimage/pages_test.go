package elfimage_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// What is read page by page is what debug/elf reads at once: large sections and segments, small
// ones, and what is loaded up to the end of a segment.
func TestPages(t *testing.T) {
	path := gdbtest.File(t, "/usr/bin/gdb")
	im, f, err := elfimage.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	other, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for name, large := range map[string]bool{".eh_frame": true, ".eh_frame_hdr": true, ".text": true, ".interp": false, ".dynamic": false} {
		want, err := other.Section(name).Data()
		if err != nil {
			t.Fatal(err)
		}
		b, addr, err := im.Pages(name)
		if err != nil || addr != other.Section(name).Addr || b.Paged() != large {
			t.Fatalf("%s: address %#x, %v", name, addr, err)
		}
		if view, ok := b.View(0, b.Len()); !ok || !bytes.Equal(view, want) {
			t.Errorf("%s differs", name)
		}
		loaded, err := im.LoadedPages(addr, uint64(len(want)))
		if err != nil {
			t.Fatal(err)
		}
		if view, ok := loaded.View(0, loaded.Len()); !ok || !bytes.Equal(view, want) {
			t.Errorf("%s differs as it is loaded", name)
		}
	}
	header, _ := other.Section(".eh_frame_hdr").Data()
	b, addr, err := im.SegmentPages(elf.PT_GNU_EH_FRAME)
	if err != nil || addr != other.Section(".eh_frame_hdr").Addr {
		t.Fatalf("PT_GNU_EH_FRAME at %#x, %v", addr, err)
	}
	if view, ok := b.View(0, b.Len()); !ok || !bytes.Equal(view, header) {
		t.Error("PT_GNU_EH_FRAME differs")
	}
}

// Where the budget is spent, nothing is read that it does not count.
func TestPagesWithoutRoom(t *testing.T) {
	im, f, err := elfimage.OpenFile(gdbtest.File(t, "/usr/bin/gdb"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	im.Join(new(elfimage.Budget))
	for n := int64(1 << 30); n > 0; n /= 2 {
		for im.Reserve(n) {
		}
	}
	section := im.ELF().Section(".eh_frame")
	if b, _, err := im.Pages(section.Name); !errors.Is(err, elfimage.ErrBudget) {
		t.Errorf("a section of %d bytes, %v", b.Len(), err)
	}
	if b, err := im.LoadedPages(section.Addr, section.Size); !errors.Is(err, elfimage.ErrBudget) {
		t.Errorf("%d bytes that are loaded, %v", b.Len(), err)
	}
	if b, _, err := im.SegmentPages(elf.PT_GNU_EH_FRAME); !errors.Is(err, elfimage.ErrBudget) {
		t.Errorf("a segment of %d bytes, %v", b.Len(), err)
	}
}

// A section with more bytes than the file has on disk is read as ever: up to its hole.
func TestPagesOfHole(t *testing.T) {
	path := gdbtest.File(t, "/usr/bin/gdb")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(t.TempDir() + "/sparse")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	im, err := elfimage.Open(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	headers := im.ELF().Section(".shstrtab").Offset
	if _, err = file.Write(whole[:4096]); err == nil {
		_, err = file.WriteAt(whole[headers:], int64(headers))
	}
	if err != nil {
		t.Fatal(err)
	}
	if im, err = elfimage.Open(file, int64(len(whole))); err != nil || im.SizeOnDisk() > 1<<20 {
		t.Fatalf("%d bytes, %v", im.SizeOnDisk(), err)
	}
	if b, _, err := im.Pages(".eh_frame"); err == nil {
		t.Errorf("%d bytes of a hole", b.Len())
	}
}
