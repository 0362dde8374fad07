package snapshot_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// program is a whole small program of an architecture.
func program(a *arch.Arch) []byte {
	return elftest.Program(elf.ELFCLASS64, a.Order.(binary.AppendByteOrder), a.Machine, elf.ET_DYN).Mapped()
}

// small is a snapshot like [made]'s in some 5 KB: one carried file, and little memory.
func small(a *arch.Arch) *snapshot.Snapshot {
	s := fullSnapshot(a)
	s.Memory = []snapshot.Block{ // as in made: one behind the other, across the border of two mappings
		{Addr: text + 0x1fd0, Data: fill(48, 1)},
		{Addr: text + 0x2000, Data: fill(16, 2)},
		{Addr: nobody, Data: fill(33, 3)},
		{Addr: stack + 0x3fe0, Data: fill(64, 4)},
		{Addr: stack + 0x5000, Data: fill(48, 5), Late: true},
		{Addr: stack + 0x5030, Data: fill(48, 6), Late: true},
	}
	s.Threads = s.Threads[:3]
	image := program(a)
	s.Maps[2].Offset = 0
	s.Files[0].Content = io.NewSectionReader(bytes.NewReader(image), 0, int64(len(image)))
	return s
}

// small386 is small of 32-bit x86, with addresses that have 32 bits.
func small386() *snapshot.Snapshot {
	s := small(i386.Arch)
	short := func(addr *uint64) { *addr = *addr&0xffff_ffff | *addr>>8&0x6000_0000 } // nobody stays between the others
	for i := range s.Maps {
		short(&s.Maps[i].Lo)
		short(&s.Maps[i].Hi)
	}
	for i := range s.Modules {
		short(&s.Modules[i].Lo)
	}
	for i := range s.Memory {
		short(&s.Memory[i].Addr)
	}
	for i := range s.Files {
		short(&s.Files[i].Lo)
	}
	for i := range s.Threads {
		r := &s.Threads[i].Regs
		short(&r.Value[i386.EIP])
		short(&r.Value[i386.ESP])
	}
	s.Auxv = nil
	for _, v := range []uint32{33, text & 0xffff_ffff, 0, 0} { // AT_SYSINFO_EHDR, AT_NULL
		s.Auxv = binary.LittleEndian.AppendUint32(s.Auxv, v)
	}
	image := elftest.Program(elf.ELFCLASS32, binary.LittleEndian, elf.EM_386, elf.ET_DYN).Mapped()
	s.Files[0].Content = io.NewSectionReader(bytes.NewReader(image), 0, int64(len(image)))
	return s
}

// The snapshot of 32-bit x86 that is made for the fuzzer is a good one.
func TestSmall386(t *testing.T) {
	tg := read(t, written(t, small386()))
	threads, err := tg.Threads()
	if err != nil || tg.Arch() != i386.Arch || len(threads) != 3 || len(tg.Warnings()) > 0 {
		t.Errorf("%s, %d threads, %v, warnings %q", tg.Arch().Name, len(threads), err, tg.Warnings())
	}
	im, _, err := tg.Modules().Find((text + 0x10000) & 0xffff_ffff).Image()
	if err != nil || im.BuildID != "6275696c64696421" {
		t.Errorf("the file that goes along: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, a := range arches {
		f.Add(written(f, small(a)))
	}
	f.Add(written(f, small386()))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 64<<20, func() { readAll(data) })
	})
}

// FuzzNote changes the note of a snapshot. If it changed the whole file, it would have to guess the
// note's size as well.
func FuzzNote(f *testing.F) {
	var files [][]byte
	for i, a := range arches {
		files = append(files, written(f, small(a)))
		f.Add(note(f, files[i]), uint8(i))
	}
	f.Add([]byte(`{"version": 1, "late": [{"address": "0x7fffff5000", "size": 18446744073709551615}, {"address": "1", "size": 2}]}`), uint8(0))
	f.Fuzz(func(t *testing.T, text []byte, which uint8) {
		file := withNote(files[int(which)%len(files)], arches[int(which)%len(files)], text)
		bounds.Hold(t, 4<<20+512*len(text), func() { readAll(file) })
	})
}

// note returns the snapshot's note.
func note(t testing.TB, file []byte) []byte {
	c, err := core.Read(bytes.NewReader(file), int64(len(file)), core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.Note(snapshot.NoteOwner, snapshot.NoteType, 1<<20)
}

// withNote appends a note to a file, behind all others, and returns the file.
func withNote(file []byte, a *arch.Arch, text []byte) []byte {
	first := file[64:] // program header
	off, size := a.Order.Uint64(first[8:]), a.Order.Uint64(first[32:])
	notes := bytes.Clone(file[off:][:size])
	for at := uint64(0); at+12 <= size; { // give the present note an owner that nobody knows
		name, desc, kind := uint64(a.Order.Uint32(notes[at:])), uint64(a.Order.Uint32(notes[at+4:])), a.Order.Uint32(notes[at+8:])
		if kind == snapshot.NoteType {
			a.Order.PutUint32(notes[at+8:], 0)
		}
		at += 12 + (name+3)&^3 + (desc+3)&^3
	}
	notes = elfnote.Append(notes, a.Order, snapshot.NoteOwner, snapshot.NoteType, text)
	out := append(bytes.Clone(file), notes...)
	a.Order.PutUint64(out[64+8:], uint64(len(file)))
	a.Order.PutUint64(out[64+32:], uint64(len(notes)))
	return out
}

// The notes that withNote puts into files are read.
func TestWithNote(t *testing.T) {
	for _, a := range arches {
		file := written(t, small(a))
		tg := read(t, withNote(file, a, bytes.Replace(note(t, file), []byte(`"server"`), []byte(`"a server"`), 1)))
		threads, _ := tg.Threads()
		if len(threads) != 3 || threads[0].Name() != "a server" || len(tg.Warnings()) > 0 {
			t.Errorf("%s: %v, %v", a.Name, threads[0].Name(), tg.Warnings())
		}
		im, _, err := tg.Modules().Find(text + 0x10000).Image()
		if err != nil || im.BuildID != "6275696c64696421" {
			t.Errorf("%s: the file that goes along: %v", a.Name, err)
		}
	}
}

// readAll reads all of a snapshot that a walk of its stacks reads.
func readAll(data []byte) {
	tg, err := snapshot.Read(bytes.NewReader(data), int64(len(data)), core.Options{Sysroot: "/nonexistent"})
	if err != nil {
		return
	}
	defer tg.Close()
	threads, _ := tg.Threads()
	var r arch.Registers
	var p [300]byte
	for _, th := range threads[:min(len(threads), 8)] {
		if th.Registers(&r) != nil {
			continue
		}
		for _, at := range []uint64{r.Value[tg.Arch().PC], r.Value[tg.Arch().SP]} {
			tg.Memory().ReadMemory(at, p[:])
			tg.Memory().(target.CopiedMemory).Window(at)
			tg.Memory().(target.RunningMemory).MovedOn(at, 1)
			tg.Modules().IsCode(at)
		}
	}
	for _, m := range tg.Modules().All() {
		m.Image()
	}
	tg.Warnings()
}

// FuzzGather gathers the memory of a file that is mapped as a whole or in part.
func FuzzGather(f *testing.F) {
	image := program(arches[0])
	code := elftest.File{Machine: elf.EM_X86_64, Sections: []elftest.Section{{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: 64, Data: make([]byte, 16)}}}
	f.Add(image, uint8(1))
	f.Add(image, uint8(3))
	f.Add(code.Mapped(), uint8(1))
	f.Add(image[:len(image)/2], uint8(0))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, pages uint8) {
		// pages is the number of whole pages; 0 means that the memory ends within a page, as a copy
		// does.
		if size := int(pages%4) << 12; size > len(data) {
			data = append(bytes.Clone(data), make([]byte, size-len(data))...)
		}
		bounds.Hold(t, 64<<20, func() {
			s := gathered(t, data)
			size := 0
			for _, b := range s.Memory {
				size += len(b.Data)
			}
			if size > len(data) {
				t.Errorf("%d bytes of memory, %d in the snapshot", len(data), size)
			}
			written(t, s)
		})
	})
}
