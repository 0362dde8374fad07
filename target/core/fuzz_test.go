package core

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm"
	"github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/target"
)

// Addresses in the process that madeCore is of.
const (
	madeProgram = 0x40_0000
	madeDebug   = 0x50_0000 // r_debug, the link map, names
	madeLibrary = 0x7f00_0000_0000
	madeStack   = 0x7fff_0000_0000
)

// madeCore is a core of some 6 KB with everything that cores have. If listed is set, it lists files
// (NT_FILE) and carries one of them; else only the dynamic linker's list tells of them.
func madeCore(a *arch.Arch, listed bool) []byte {
	order := a.Order.(interface {
		binary.ByteOrder
		binary.AppendByteOrder
	})
	words := func(list ...uint64) (b []byte) {
		for _, v := range list {
			b = order.AppendUint64(b, v)
		}
		return b
	}
	program := elftest.Program(elf.ELFCLASS64, order, a.Machine, elf.ET_EXEC)
	for i := range program.Sections {
		if s := &program.Sections[i]; s.Name == ".dynamic" {
			copy(s.Data[6*16+8:], words(madeDebug))
		}
	}
	image := program.Mapped()
	library := elftest.Program(elf.ELFCLASS64, order, a.Machine, elf.ET_DYN).Mapped()
	headers := order.Uint64(image[32:])
	debug := append(words(2, madeDebug+48, 0, 0, 0, 0), words(madeProgram, 0, 0, madeDebug+88, 0)...)
	debug = append(append(debug, words(madeLibrary, madeDebug+128, 0, 0, 0)...), "/lib/libsmall.so.1\x00./program\x00"...)

	var notes []byte
	note := func(owner string, typ uint32, desc []byte) {
		notes = elfnote.Append(notes, order, owner, typ, desc)
	}
	info := make([]byte, 136)
	order.PutUint32(info[24:], 4242)
	copy(info[40:], "program")
	copy(info[56:], "./program -x")
	note("CORE", elfnote.PRPSInfo, info)
	note("CORE", elfnote.Auxv, words(linkmap.ATPhdr, madeProgram+headers, linkmap.ATPhent, 56, linkmap.ATPhnum, uint64(order.Uint16(image[56:])),
		linkmap.ATEntry, madeProgram+64, linkmap.ATBase, madeLibrary, linkmap.ATExecfn, madeDebug+128+19, linkmap.ATSysinfoEhdr, madeLibrary+0x10000, 0, 0))
	note("other", 1234, nil)
	for thread := range uint64(2) {
		status := make([]byte, a.PRStatusHeader()+a.KernelRegs[0].Size)
		order.PutUint16(status[12:], 11)
		order.PutUint32(status[32:], uint32(4242+thread))
		for _, r := range a.KernelRegs[0].Regs {
			switch r.Reg {
			case a.PC:
				copy(status[a.PRStatusHeader()+r.Off:], words(madeLibrary+64+thread*0x20000))
			case a.SP:
				copy(status[a.PRStatusHeader()+r.Off:], words(madeStack+64*thread))
			}
		}
		note("CORE", arch.NTPRStatus, status)
	}
	signal := make([]byte, 128)
	order.PutUint32(signal, 11)
	order.PutUint32(signal[8:], 1)
	if !listed {
		order.PutUint32(signal, 10)
		order.PutUint32(signal[8:], ^uint32(5)) // SI_TKILL
	}
	note("CORE", elfnote.Siginfo, signal)
	note("LINUX", elfnote.PACMask, words(0x7f<<48, 0x7f<<48))
	for _, k := range a.KernelRegs[1:] {
		note("LINUX", k.Note, make([]byte, k.Size))
	}
	if listed {
		note("CORE", elfnote.File, append(words(3, 4096, madeProgram, madeProgram+0x1000, 0, madeLibrary, madeLibrary+0x1000, 0, madeLibrary+0x20000, madeLibrary+0x21000, 1),
			"/usr/bin/program\x00/lib/libsmall.so.1 (deleted)\x00/lib/none.so\x00"...))
		note(FileNoteOwner, FileNote, words(madeLibrary, 0, uint64(len(library)))) // the offset follows
	}

	type segment struct {
		kind  elf.ProgType
		flags elf.ProgFlag
		addr  uint64
		data  []byte
	}
	// The vDSO is the same bytes as the program.
	list := []segment{
		{elf.PT_NOTE, 0, 0, notes}, {elf.PT_LOAD, elf.PF_R | elf.PF_X, madeProgram, image}, {elf.PT_LOAD, elf.PF_R | elf.PF_W, madeDebug, debug},
		{elf.PT_LOAD, elf.PF_R | elf.PF_X, madeLibrary, library[:0]}, {elf.PT_LOAD, elf.PF_R | elf.PF_W, madeStack, words(1, 2, madeLibrary+70, 4, 5, 6, 7, 8, 9, 10, 11, 12)},
	}
	if !listed {
		list[3].data = library
	}
	at := 64 + 56*(len(list)+1)
	if listed {
		copy(notes[len(notes)-16:], words(uint64(at+len(notes)+len(image)+len(debug)+len(list[4].data))))
	}
	b := append([]byte(elf.ELFMAG), byte(elf.ELFCLASS64), image[elf.EI_DATA], byte(elf.EV_CURRENT), 0, 0, 0, 0, 0, 0, 0, 0, 0)
	half := func(list ...uint16) {
		for _, v := range list {
			b = order.AppendUint16(b, v)
		}
	}
	half(uint16(elf.ET_CORE), uint16(a.Machine))
	b = append(order.AppendUint32(b, 1), words(0, 64, 0)...)
	b = order.AppendUint32(b, 0)
	half(64, 56, uint16(len(list)+1), 64, 0, 0)
	header := func(s segment) {
		b = order.AppendUint32(b, uint32(s.kind))
		b = order.AppendUint32(b, uint32(s.flags))
		b = append(b, words(uint64(at), s.addr, 0, uint64(len(s.data)), (uint64(len(s.data))+0xfff)&^0xfff, 4)...)
	}
	for i, s := range list {
		if header(s); i == 1 {
			s.addr = madeLibrary + 0x10000
			header(s)
		}
		at += len(s.data)
	}
	for _, s := range list {
		b = append(b, s.data...)
	}
	if listed {
		b = append(b, library...)
	}
	return b
}

// The core that is made for the fuzzer is a good one: both modules are found, and the stack.
func TestMadeCore(t *testing.T) {
	for _, a := range []*arch.Arch{amd64.Arch, arm64.Arch, s390x.Arch} {
		for _, listed := range []bool{false, true} {
			data := madeCore(a, listed)
			tg, err := Read(bytes.NewReader(data), int64(len(data)), Options{Sysroot: "/nonexistent"})
			if err != nil {
				t.Fatalf("%s: %v", a.Name, err)
			}
			t.Logf("%s: %d bytes: %v", a.Name, len(data), tg.Warnings())
			for _, m := range tg.Modules().All() {
				im, bias, err := m.Image()
				t.Log(m.Path, m.Mappings, err, bias)
				if err == nil && im.BuildID != "6275696c64696421" {
					t.Errorf("%s: %s: build ID %s", a.Name, m.Path, im.BuildID)
				}
			}
			count := 3 // with the vDSO
			if listed {
				count++
			}
			if len(tg.Modules().All()) != count || tg.PID != 4242 || tg.Command != "./program -x" || tg.Signal == nil || !tg.Modules().IsCode(madeLibrary+64) {
				t.Errorf("%s, listed %v: %+v, %v", a.Name, listed, tg, tg.Modules().All())
			}
		}
	}
}

// withHeaders adds count program headers to a core.
func withHeaders(data []byte, count int, kind elf.ProgType, header func(n int) (off, addr, size uint64)) []byte {
	order := binary.LittleEndian
	data = bytes.Clone(data)
	own := order.Uint16(data[56:])
	at := uint64(len(data))
	data = append(data, data[64:64+56*int(own)]...)
	for n := range count {
		off, addr, size := header(n)
		data = order.AppendUint32(data, uint32(kind))
		data = order.AppendUint32(data, uint32(elf.PF_R))
		for _, v := range []uint64{off, addr, 0, size, size, 4} {
			data = order.AppendUint64(data, v)
		}
	}
	order.PutUint64(data[32:], at)
	order.PutUint16(data[56:], own+uint16(count))
	return data
}

// Many headers of the same bytes do not make the core seem larger: neither 16,000 headers of the
// same notes, nor 2,000 mappings of the same ELF headers.
func TestSameBytes(t *testing.T) {
	data := madeCore(amd64.Arch, false)
	order := binary.LittleEndian
	off, size := order.Uint64(data[64+8:]), order.Uint64(data[64+32:])
	many := withHeaders(data, 16000, elf.PT_NOTE, func(int) (uint64, uint64, uint64) { return off, 0, size })
	bounds.Hold(t, 16<<20+32*len(many), func() {
		tg, err := Read(bytes.NewReader(many), int64(len(many)), Options{Sysroot: "/nonexistent"})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		if threads, _ := tg.Threads(); len(threads) != 2 || !strings.Contains(strings.Join(tg.Warnings(), "\n"), "not behind those before it") {
			t.Errorf("%d threads, %v", len(threads), tg.Warnings())
		}
	})

	// An ELF file of 1,000 headers.
	image := elftest.Program(elf.ELFCLASS64, order, elf.EM_X86_64, elf.ET_DYN).Mapped()
	at := uint64(len(image))
	for range 1000 {
		image = append(image, make([]byte, 56)...)
	}
	order.PutUint64(image[32:], at)
	order.PutUint16(image[56:], 1000)
	off = uint64(len(data))
	many = withHeaders(append(data, image...), 2000, elf.PT_LOAD, func(n int) (uint64, uint64, uint64) {
		return off, 1<<32 + uint64(n)<<20, uint64(len(image))
	})
	bounds.Hold(t, 96<<20, func() {
		tg, err := Read(bytes.NewReader(many), int64(len(many)), Options{Sysroot: "/nonexistent"})
		if err != nil {
			t.Fatal(err)
		}
		tg.Close()
	})
}

func FuzzOpen(f *testing.F) {
	for _, name := range []string{"arm64-qemu", "s390x-qemu", "i386-qemu", "arm-qemu"} {
		text, err := os.ReadFile("testdata/" + name + ".core")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, a := range []*arch.Arch{amd64.Arch, arm64.Arch, s390x.Arch} {
		f.Add(madeCore(a, false))
		f.Add(madeCore(a, true))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 64<<20, func() { openAll(data) })
	})
}

// openAll reads all of a core that a walk of its stacks reads.
func openAll(data []byte) {
	tg, err := read(bytes.NewReader(data), sizes{int64(len(data)), int64(len(data))}, "/nonexistent", regular.Word{}, Options{Sysroot: "/nonexistent"})
	if err != nil {
		return
	}
	defer tg.files.Close()
	threads, _ := tg.Threads()
	var r arch.Registers
	for _, th := range threads[:min(len(threads), 8)] {
		th.Registers(&r)
		var p [300]byte
		for _, a := range []uint64{r.Value[tg.arch.PC], r.Value[tg.arch.SP], r.Value[tg.arch.SP] - 8} {
			tg.Memory().ReadMemory(a, p[:])
			tg.Memory().(target.CopiedMemory).Window(a)
			tg.Modules().IsCode(a)
		}
	}
	for _, m := range tg.Modules().All() {
		m.Image()
	}
	tg.Warnings()
}
