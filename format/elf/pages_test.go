package elf_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
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

// Memory changes. So what is read of an image in memory is read when it is asked for, all of it,
// and anew each time.
func TestPagesOfMemory(t *testing.T) {
	file, err := os.ReadFile(gdbtest.File(t, "/usr/bin/gdb"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	const base = 0x10000000
	mem := memtest.Flat{Lo: base}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			mem.Data = append(mem.Data, make([]byte, p.Vaddr+p.Filesz-uint64(len(mem.Data)))...)
			copy(mem.Data[p.Vaddr:], file[p.Off:][:p.Filesz])
		}
	}
	im, err := elfimage.OpenMapped(mem, base, uint64(len(mem.Data)))
	if err != nil {
		t.Fatal(err)
	}
	frames := f.Section(".eh_frame")
	want, err := frames.Data()
	if err != nil {
		t.Fatal(err)
	}
	b, err := im.LoadedPages(frames.Addr, frames.Size)
	if err != nil {
		t.Fatal(err)
	}
	before, _, err := im.Segment(elf.PT_DYNAMIC)
	if err != nil {
		t.Fatal(err)
	}
	clear(mem.Data[frames.Addr:][:frames.Size])
	clear(mem.Data[f.Section(".dynamic").Addr:][:8])
	if view, ok := b.View(0, b.Len()); !ok || !bytes.Equal(view, want) {
		t.Error(".eh_frame changes with the memory")
	}
	if now, _, err := im.Segment(elf.PT_DYNAMIC); err != nil || bytes.Equal(now[:8], before[:8]) {
		t.Errorf("PT_DYNAMIC does not change with the memory: %x, %v", now[:8], err)
	}
}
