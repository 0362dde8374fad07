package minidump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/trad"

	"debug/elf"
)

// elftest's programs have this build ID.
const buildID = "6275696c64696421"

// linuxDump is a dump of Linux, with the program and a library that is mapped by the kernel's list.
func linuxDump(processor uint16) []byte {
	d := dumptest.New()
	d.System(processor, 0x8201, "Linux 6.1")
	context := func(pc, sp uint64) []byte {
		if processor == 12 {
			return d.ARM64(pc|0xaa<<40, sp, 0x3333, 0x400040|0xaa<<40)
		}
		return d.AMD64(pc, sp, 0x3333)
	}
	crashed := d.At(context(0x400064, 0x7ff0_1010))
	d.Stream(3, d.U32(3),
		d.Thread(10, 0x7ff0_0000, make([]byte, 64), context(0x400050, 0x7ff0_0000)),
		d.Thread(11, 0x7ff0_1000, []byte("the stack of the thread that crashed"), context(0x7000_0000_0040, 0x7ff0_1000)),
		d.Thread(12, 0x7ff0_2000, make([]byte, 64), context(0x400050, 0x7ff0_2000)))
	id := d.U32(0x4270454c)
	id = append(id, "buildid!"...)
	d.Stream(4, d.U32(3), d.Module("/opt/program", 0x400000, 0x10000, id), d.Module("/opt/libsmall.so.1", 0x7000_0000_0000, 0x1000, id),
		d.Module("/opt/other.so", 0x7100_0000_0000, 0x1000, append(d.U32(0x4270454c), "another!"...)))
	d.Stream(6, d.U32(11, 0, 11, 1), d.U64(0, 0), d.U32(0, 0), make([]byte, 15*8), crashed)
	d.Stream(0x47670001, d.U32(3, 10, 11))
	d.Stream(0x47670009, []byte("700000000000-700000010000 r-xp 00000000 08:01 5 /opt/real/libsmall.so.1\n7fff00000000-7fff00001000 r-xp 00000000 00:00 0 \n"))
	if processor == 12 {
		d.Stream(0x43500001, d.U32(1), make([]byte, 32), d.U32(0, 0, 0, 0, 0), d.U64(1<<40-1))
	}
	return d.Bytes(1)
}

// folder has the files of the modules, and another build of one.
func folder(t *testing.T, a *arch.Arch) string {
	dir := t.TempDir()
	for name, typ := range map[string]elf.Type{"program": elf.ET_EXEC, "libsmall.so.1": elf.ET_DYN, "other.so": elf.ET_DYN} {
		linuxDump := elftest.Program(elf.ELFCLASS64, a.Order.(interface {
			binary.ByteOrder
			binary.AppendByteOrder
		}), a.Machine, typ)
		if err := os.WriteFile(filepath.Join(dir, name), linuxDump.Mapped(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTarget(t *testing.T) {
	for processor, a := range map[uint16]*arch.Arch{9: amd64.Arch, 12: arm64.Arch} {
		b := linuxDump(processor)
		dump, err := format.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		tg, err := New(dump, Options{Beside: folder(t, a)})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		if tg.Arch().Name != a.Name {
			t.Errorf("architecture %s, want %s", tg.Arch().Name, a.Name)
		}

		threads, _ := tg.Threads()
		var ids []int
		for _, th := range threads {
			ids = append(ids, th.ID())
		}
		if first := threads[0].(*Thread); !slices.Equal(ids, []int{11, 12}) || !first.Died || !first.Requesting || first.Index != 0 {
			t.Errorf("%s: threads %v, the first %+v: want the one that crashed, and not the one that wrote the dump", a.Name, ids, threads[0])
		}
		var regs arch.Registers
		if err := threads[0].Registers(&regs); err != nil {
			t.Fatal(err)
		}
		get := func(r trad.Reg) uint64 { v, _ := regs.Get(r); return v }
		if tg.Arch().CodeAddress(get(a.PC)) != 0x400064 || get(a.SP) != 0x7ff0_1010 || get(a.FP) != 0x3333 {
			t.Errorf("%s: the registers are not those at the exception: %#x", a.Name, regs.Value)
		}

		text := make([]byte, 9)
		if n, err := tg.Memory().ReadMemory(0x7ff0_1000+4, text); n != 9 || err != nil || string(text) != "stack of " {
			t.Errorf("%s: %q, %v", a.Name, text[:n], err)
		}
		for _, x := range []struct {
			addr uint64
			want string // its build ID if its file is used
			path string
		}{{0x400064, buildID, "/opt/program"}, {0x7000_0000_8000, buildID, "/opt/libsmall.so.1"}, {0x7100_0000_0010, "", "/opt/other.so"}} {
			m := tg.Modules().Find(x.addr)
			if m == nil || m.Path != x.path {
				t.Fatalf("%s: at %#x: %+v, want %s", a.Name, x.addr, m, x.path)
			}
			im, bias, err := m.Image()
			if x.want == "" {
				if err == nil || m.BuildID() != "616e6f7468657221" {
					t.Errorf("%s: another build of %s is used: %v, %s", a.Name, x.path, err, m.BuildID())
				}
				continue
			}
			if err != nil || im.BuildID != x.want {
				t.Errorf("%s: %s: %v", a.Name, x.path, err)
				continue
			}
			code, got := make([]byte, 16), make([]byte, 16)
			p := im.Progs[slices.IndexFunc(im.Progs, func(p elf.ProgHeader) bool { return p.Type == elf.PT_LOAD })]
			im.ReadLoaded(p.Vaddr, code)
			if n, _ := tg.Memory().ReadMemory(p.Vaddr+bias, got); n != 16 || !bytes.Equal(code, got) || m.Base() != p.Vaddr+bias {
				t.Errorf("%s: %s: %x at %#x, the file has %x", a.Name, x.path, got[:n], p.Vaddr+bias, code)
			}
		}
		if ms := tg.Modules(); !ms.IsCode(0x7fff_0000_0010) || ms.IsCode(0x7ff0_1000) {
			t.Errorf("%s: code: %v, stack: %v", a.Name, ms.IsCode(0x7fff_0000_0010), ms.IsCode(0x7ff0_1000))
		}
	}
}

// TestErrArch: a dump of a processor without a descriptor can be read, not walked.
func TestErrArch(t *testing.T) {
	d := dumptest.New()
	d.System(1, 0x8201, "")
	d.Stream(3, d.U32(0))
	b := d.Bytes(0)
	path := filepath.Join(t.TempDir(), "dump")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrArch) {
		t.Errorf("of mips: %v", err)
	}
	if _, err := Open(os.DevNull, Options{}); err == nil {
		t.Error("a device is a dump")
	}
}

// FuzzTarget makes targets of dumps.
func FuzzTarget(f *testing.F) {
	f.Add(linuxDump(9))
	f.Add(linuxDump(12))
	windows := dumptest.New()
	windows.System(9, 2, "")
	headers := append(make([]byte, 0x3c), windows.U32(0x40)...)
	copy(headers, "MZ")
	headers = append(headers, "PE\x00\x00\x64\x86\x00\x00"...)
	windows.Stream(3, windows.U32(1), windows.Thread(1, 0x140000000, append(headers, make([]byte, 256)...), windows.AMD64(0x140000010, 0x140000020, 0)))
	windows.Stream(4, windows.U32(1), windows.Module(`C:\a.exe`, 0x140000000, 0x1000, nil))
	f.Add(windows.Bytes(0))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 128<<20, func() {
			dump, err := format.Read(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return
			}
			tg, err := New(dump, Options{Sysroot: "/nonexistent"})
			if err != nil {
				return
			}
			defer tg.Close()
			for _, m := range tg.Modules().All() {
				if im, err := m.PE(); err == nil {
					im.Symbols()
				}
			}
			threads, _ := tg.Threads()
			for _, th := range threads {
				var regs arch.Registers
				th.Registers(&regs)
				pc, _ := regs.Get(tg.Arch().PC)
				tg.Modules().Find(pc)
				tg.Modules().IsCode(pc)
				sp, _ := regs.Get(tg.Arch().SP)
				var word [8]byte
				tg.Memory().ReadMemory(sp, word[:])
			}
		})
	})
}

// TestShared: targets share the files that they open, and an end comes when those are many.
func TestShared(t *testing.T) {
	dir, files := folder(t, amd64.Arch), new(Files)
	path := filepath.Join(t.TempDir(), "crash.dmp")
	if err := os.WriteFile(path, linuxDump(9), 0o644); err != nil {
		t.Fatal(err)
	}
	var images [2]*elfimage.Image
	for i := range images {
		target, err := Open(path, Options{Beside: dir, Sysroot: t.TempDir(), Files: files})
		if err != nil {
			t.Fatal(err)
		}
		if images[i], _, err = target.Modules().All()[0].Image(); err != nil {
			t.Fatal(err)
		}
		if err := target.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if images[0] != images[1] {
		t.Error("the file was opened twice")
	}
	if b, err := images[0].SectionData(images[0].ELF().Sections[1]); err != nil || len(b) == 0 {
		t.Errorf("the file was closed with a target: %v", err)
	}
	program, err := os.ReadFile(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; !files.Full(); i++ {
		name := filepath.Join(dir, fmt.Sprint(i))
		if i > maxShared || os.WriteFile(name, program, 0o644) != nil {
			t.Fatalf("%d files are not many", i)
		}
		before := len(files.opened)
		if _, err := files.image(place{path: name}, nil, "other", func(*elfimage.Image) error { return errOther }); err != errOther || len(files.opened) != before {
			t.Fatalf("%v: a file that is not accepted stays open", err)
		}
		if _, err := files.image(place{path: name}, nil, "this", func(*elfimage.Image) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}
