//go:build linux

package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// FuzzStubs changes the procedure linkage table of each processor, and the sections that say which
// functions it calls. The names are debug/elf's.
func FuzzStubs(f *testing.F) {
	const pltAt, secAt = 0x1000, 0x2000
	file, err := elf.Open(gdbtest.Testdata(f, "bin", "plt-v3"))
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	p := sectionsOf(f, file, ".plt.sec", ".plt.got", ".rela.plt", ".dynsym", ".dynstr")
	f.Add(uint8(0), p[0], p[1], p[2], p[3], p[4], file.Section(".plt.sec").Addr, file.Section(".plt.got").Addr)
	// endbr64; bnd jmp *2(%rip); an IFUNC
	f.Add(uint8(0), []byte("\xf3\x0f\x1e\xfa\xf2\xff\x25\x00\x30\x00\x00"), []byte("\xff\x25\xfa\x2f\x00\x00\x66\x90"),
		binary.LittleEndian.AppendUint64([]byte("\x0b\x40\x00\x00\x00\x00\x00\x00\x25\x00\x00\x00\x00\x00\x00\x00"), 0x1234), p[3], p[4], uint64(pltAt), uint64(secAt))
	f.Add(uint8(0), []byte(nil), p[1], elftest.Of(f, file, ".rela.dyn").Data, p[3], p[4], uint64(0), file.Section(".plt.got").Addr)
	little, big := binary.LittleEndian, binary.BigEndian
	processors := []struct {
		machine elf.Machine
		order   binary.AppendByteOrder
		longest int // stub
	}{{elf.EM_X86_64, little, 16}, {elf.EM_AARCH64, little, 1 << 20}, {elf.EM_S390, big, 32}}
	// bti c; adrp x16; ldr x17, [x16]; add; autia1716; br x17; nop, and larl, lg, br with what
	// binds: each jumps through the word at 0x2000.
	for i, code := range []string{
		"\x5f\x24\x03\xd5\x10\x00\x00\xb0\x11\x02\x40\xf9\x10\x02\x00\x91\x9f\x21\x03\xd5\x20\x02\x1f\xd6\x1f\x20\x03\xd5",
		"\xc0\x10\x00\x00\x08\x00\xe3\x10\x10\x00\x00\x04\x07\xf1\x0d\x10\xe3\x10\x10\x0c\x00\x14\xc0\xf4\xff\xff\xff\xef\x00\x00\x00\x00",
	} {
		slot := uint64(elf.R_AARCH64_JUMP_SLOT)
		if processors[i+1].machine == elf.EM_S390 {
			slot = uint64(elf.R_390_JMP_SLOT)
		}
		order := processors[i+1].order
		rela := order.AppendUint64(order.AppendUint64(order.AppendUint64(nil, secAt), 1<<32|slot), 0)
		dynsym := append(order.AppendUint32(make([]byte, elf.Sym64Size), 1), make([]byte, elf.Sym64Size-4)...)
		f.Add(uint8(i+1), []byte(code), []byte(nil), rela, dynsym, []byte("\x00puts\x00"), uint64(pltAt), uint64(0))
	}
	f.Fuzz(func(t *testing.T, processor uint8, plt, got, rela, dynsym, dynstr []byte, pltAddr, gotAddr uint64) {
		p := processors[int(processor)%len(processors)]
		code := elf.SHF_ALLOC | elf.SHF_EXECINSTR
		data := (&elftest.File{Machine: p.machine, Order: p.order, Type: elf.ET_DYN, Sections: []elftest.Section{
			{Name: ".plt", Flags: code, Addr: pltAddr, Data: plt},
			{Name: ".plt.got", Flags: code, Addr: gotAddr, Data: got},
			{Name: ".rela.plt", Type: elf.SHT_RELA, Data: rela},
			{Name: ".dynsym", Type: elf.SHT_DYNSYM, Data: dynsym, Link: 5, Entsize: elf.Sym64Size},
			{Name: ".dynstr", Type: elf.SHT_STRTAB, Data: dynstr},
		}}).Bytes()
		bounds.Hold(t, 256<<10+100*len(data), func() {
			im := openImage(t, data)
			s, err := readStubs(im)
			if err != nil {
				t.Fatal(err)
			}
			var names []elf.Symbol
			for _, section := range []struct {
				addr uint64
				code []byte
			}{{pltAddr, plt}, {gotAddr, got}} {
				for at := 0; at < min(len(section.code), 64); at += 4 {
					pc := section.addr + uint64(at)
					name, start, _, ok := s.find(pc)
					if !ok {
						continue
					}
					if start > pc || pc-start >= uint64(p.longest) {
						t.Fatalf("%#x: %q begins at %#x", pc, name, start)
					}
					name, found := strings.CutSuffix(name, "@plt")
					if !found || strings.HasPrefix(name, "*ABS*+0x") {
						continue
					}
					if names == nil {
						if file, err := im.Standard(); err == nil {
							names, _ = file.DynamicSymbols()
						}
					}
					there := len(names) == 0 // debug/elf reads all of a table or nothing
					for _, s := range names {
						there = there || s.Name == name
					}
					if !there {
						t.Fatalf("%#x: %q is no name of a symbol", pc, name)
					}
				}
			}
		})
	})
}

// stored makes an xz stream (.xz file format 1.2.0) of data. Its header gives dictionary as the
// code of the dictionary's size. The stream has no check, and one block of uncompressed chunks.
func stored(data []byte, dictionary byte) []byte {
	sum := func(b []byte, from int) []byte {
		return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	}
	out := []byte("\xfd7zXZ\x00")
	out = sum(append(out, 0, 0), 6)
	block := len(out)
	out = sum(append(out, 2, 0, 0x21, 1, dictionary, 0, 0, 0), block)
	for rest, kind := data, byte(1); len(rest) > 0; kind = 2 {
		n := min(len(rest), 1<<16)
		out = append(binary.BigEndian.AppendUint16(append(out, kind), uint16(n-1)), rest[:n]...)
		rest = rest[n:]
	}
	out = append(out, 0)
	size := len(out) - block
	for len(out)%4 != 0 {
		out = append(out, 0)
	}
	index := len(out)
	out = append(out, 0, 1)
	out = binary.AppendUvarint(out, uint64(size))
	out = binary.AppendUvarint(out, uint64(len(data)))
	for len(out)%4 != 0 {
		out = append(out, 0)
	}
	out = sum(out, index)
	footer := binary.LittleEndian.AppendUint32(nil, uint32((len(out)-index)/4-1))
	footer = append(footer, 0, 0)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(footer))
	return append(append(out, footer...), "YZ"...)
}

// FuzzMiniDebug changes the file in .gnu_debugdata and the size of the dictionary that it asks for.
func FuzzMiniDebug(f *testing.F) {
	packed, err := os.ReadFile("testdata/mini.xz") // gcc -g; objcopy --only-keep-debug; objcopy -S --keep-symbols; xz
	if err != nil {
		f.Fatal(err)
	}
	data, err := unpack(new(elfimage.Image), packed)
	if err != nil {
		f.Fatal(err)
	}
	if again, err := unpack(new(elfimage.Image), stored(data, 0)); err != nil || !bytes.Equal(again, data) {
		f.Fatalf("%d bytes of %d, %v", len(again), len(data), err)
	}
	whole := elfOf(f, data)
	f.Add(sectionsOf(f, whole, ".symtab")[0], sectionsOf(f, whole, ".strtab")[0], uint64(0), byte(0))
	f.Add(sectionsOf(f, whole, ".symtab")[0], []byte("\x00a\x00b"), uint64(0x1000), byte(28))
	f.Fuzz(func(t *testing.T, symtab, strtab []byte, addr uint64, dictionary byte) {
		mini := (&elftest.File{Machine: elf.EM_X86_64, Sections: []elftest.Section{
			{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: symtab, Link: 2, Entsize: elf.Sym64Size},
			{Name: ".strtab", Type: elf.SHT_STRTAB, Data: strtab},
			{Name: ".text", Type: elf.SHT_NOBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: addr &^ 0xfff, Size: 1 << 16},
		}}).Bytes()
		dictionary %= 41 // codes up to 40, for 4 GiB; no more is allocated than the file can need
		im := openImage(t, program(false, elftest.Section{Name: ".gnu_debugdata", Data: stored(mini, dictionary)}).Bytes())
		bounds.Hold(t, 1<<20+20*len(mini), func() {
			image, err := MiniDebugImage(im)
			if err != nil {
				t.Fatalf("dictionary of code %d: %v", dictionary, err)
			}
			s := image.Symbols()
			for at := uint64(0); at < 1<<16; at += 1 << 12 {
				if found, ok := s.Find(addr + at); ok && found.Addr > addr+at {
					t.Fatalf("%#x: %q at %#x", addr+at, s.Name(found), found.Addr)
				}
			}
		})
	})
}

// FuzzXZ changes an xz stream, and then corrects all of its checksums that it still finds.
func FuzzXZ(f *testing.F) {
	packed, err := os.ReadFile("testdata/mini.xz")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add(stored([]byte("not compressed"), 0))
	f.Add(stored(nil, 40))
	f.Fuzz(func(t *testing.T, packed []byte) {
		data := bytes.Clone(packed)
		if n := len(data); n >= 24 {
			put := func(at int, of []byte) { binary.LittleEndian.PutUint32(data[at:], crc32.ChecksumIEEE(of)) }
			put(8, data[6:8])
			if size := 4 * (int(data[12]) + 1); 12+size <= n-12 {
				put(12+size-4, data[12:12+size-4])
			}
			put(n-12, data[n-8:n-2])
			if size := 4 * (int(binary.LittleEndian.Uint32(data[n-8:])) + 1); size >= 8 && size <= n-24 {
				put(n-12-4, data[n-12-size:n-12-4])
			}
		}
		// A dictionary may be as large as the header says, a file a thousand times what it was
		// packed to.
		bounds.Hold(t, 4*maxMiniDebug, func() {
			if whole, err := unpack(new(elfimage.Image), data); err == nil && len(whole) > maxMiniDebug {
				t.Errorf("%d bytes", len(whole))
			}
		})
	})
}

// FuzzDemangle demangles names that no compiler has mangled.
func FuzzDemangle(f *testing.F) {
	for _, name := range []string{
		"_ZN4room3sumIiEET_RKS1_PNS_3boxE.isra.0", "_Z3use5colorPFimzEPKPKcRA3_i@@V1", "_ZNSt6vectorIiSaIiEE9push_backEOi",
		"_ZZN1aC4EvENKUlT_E_clIiEEDaS0_", "_RNvCs1234_7mycrate3foo", "_ZN3foo17h05af221e174051e9E", "_D3std5stdio7writelnFZv",
		"_Z1fIXgsnw_3intEEEvDTcl1gEE", "_ZGVZ1fvE1x", "_ZThn8_N1A1fEv", "_Z" + strings.Repeat("P", 100) + "i",
	} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 1<<10 {
			return
		}
		bounds.Hold(t, 64<<20, func() {
			for _, readable := range []string{demangleSymbol(name), demangleFunction(name)} {
				if len(readable) > 1<<18+len(name) {
					t.Errorf("%d bytes of %d", len(readable), len(name))
				}
				if name != "" && readable == "" && !strings.HasPrefix(name, "@") {
					t.Error("nothing is left")
				}
			}
		})
	})
}
