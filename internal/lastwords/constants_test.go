package lastwords

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
)

// caller is a process with one function, of size bytes from base on.
func caller(t testing.TB, a *arch.Arch, size uint32) *process {
	t.Helper()
	order := a.Order.(binary.AppendByteOrder)
	var symbols []byte
	for _, s := range []elf.Sym64{{}, {Name: 1, Info: uint8(elf.STB_GLOBAL)<<4 | uint8(elf.STT_FUNC), Shndx: 1, Value: base, Size: uint64(size)}} {
		symbols = order.AppendUint32(symbols, s.Name)
		if a.Class() == elf.ELFCLASS32 {
			symbols = order.AppendUint32(order.AppendUint32(symbols, uint32(s.Value)), uint32(s.Size))
			symbols = order.AppendUint16(append(symbols, s.Info, s.Other), s.Shndx)
			continue
		}
		symbols = order.AppendUint16(append(symbols, s.Info, s.Other), s.Shndx)
		symbols = order.AppendUint64(order.AppendUint64(symbols, s.Value), s.Size)
	}
	entry := uint64(24)
	if a.Class() == elf.ELFCLASS32 {
		entry = 16
	}
	file := (&elftest.File{Class: a.Class(), Order: order, Machine: a.Machine, Type: elf.ET_EXEC, Sections: []elftest.Section{
		{Name: ".text", Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Addr: base, Data: make([]byte, size)},
		{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: symbols, Link: 3, Entsize: entry}, {Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte("\x00checks\x00")},
	}}).Bytes()
	m := target.NewRegistered("/made", []target.Mapping{{Lo: base, Hi: base + 1<<20, Exec: true}}, func() (*elfimage.Image, error) {
		return elfimage.Open(bytes.NewReader(file), int64(len(file)))
	})
	return &process{arch: a, modules: target.Only(m)}
}

// FuzzArguments reads the arguments of a call in code that is anything.
func FuzzArguments(f *testing.F) {
	const size = 512
	processes := make([]*process, len(arches))
	for i, a := range arches {
		processes[i] = caller(f, a, size)
	}
	f.Add(uint8(0), []byte("\xbf\x01\x00\x00\x00\xbe\x02\x00\x00\x00\xba\x03\x00\x00\x00\xb9\x04\x00\x00\x00\xe8\x00\x00\x00\x00"))
	f.Add(uint8(1), []byte("\xc0\x20\x00\x00\x00\x10\xa7\x29\x00\x10\xc0\xe5\x00\x00\x00\x10"))
	f.Add(uint8(2), []byte("\x01\x00\xa0\xe3\xfe\xff\xff\xeb"))
	f.Fuzz(func(t *testing.T, which uint8, code []byte) {
		p := processes[int(which)%len(arches)]
		code = code[:min(len(code), size)]
		bounds.Hold(t, 256<<10, func() {
			of := &finder{memory: newMemory(memtest.Flat{Lo: base, Data: code}, p.arch), Thread: &Thread{Target: p}}
			if list, ok := of.argumentsOf(&Frame{Lo: base, Hi: base + size, PC: base + uint64(len(code))}, 4); ok && len(list) != 4 {
				t.Errorf("%d arguments", len(list))
			}
		})
	})
}

// Constants that the code before a call puts into the registers of its arguments are found, if no
// other way leads between.
func TestArguments(t *testing.T) {
	a := arches[0]
	const moves = "\xbf\x01\x00\x00\x00\xbe\x02\x00\x00\x00\xba\x03\x00\x00\x00\xb9\x04\x00\x00\x00"
	const call = "\xe8\x00\x01\x00\x00"
	for _, tt := range []struct {
		what, code, behind string
		ok                 bool
	}{
		{"four constants", moves + call, "\xeb\xfe", true},
		{"three constants", moves[5:] + call, "", false},
		{"a call between", moves + call + call, "", false},
		{"a way to the call", "\x74\x14" + moves + call, "", false},
		{"a way to the call from behind", moves + call, "\xeb\xf9", false},
		{"a way to before", "\x74\x00" + moves + call, "", true},
		{"another register is copied", "\x89\xc7" + moves[5:] + call, "", false},
		{"no call", moves, "", false},
	} {
		p := caller(t, a, 512)
		of := &finder{memory: newMemory(memtest.Flat{Lo: base, Data: []byte(tt.code + tt.behind)}, a), Thread: &Thread{Target: p}}
		list, ok := of.argumentsOf(&Frame{Lo: base, Hi: base + uint64(len(tt.code+tt.behind)), PC: base + uint64(len(tt.code))}, 4)
		if ok != tt.ok || ok && (list[0] != 1 || list[1] != 2 || list[2] != 3 || list[3] != 4) {
			t.Errorf("%s: %v, %v", tt.what, list, ok)
		}
	}
}
