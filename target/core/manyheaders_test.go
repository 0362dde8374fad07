package core

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// withMany puts many program headers of memory without bytes before a core's program headers, as
// the kernel writes them of a process with so many mappings: e_phnum is PN_XNUM, and sh_info of the
// one section header, behind all, has the number (binfmt_elf.c, fill_extnum_info).
func withMany(data []byte, many int) []byte {
	data = bytes.Clone(data)
	var order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	} = binary.LittleEndian
	if data[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	wide := data[elf.EI_CLASS] == byte(elf.ELFCLASS64)
	phoff, own, header, phnum := 0, 0, 32, 44
	if wide {
		phoff, header, phnum = int(order.Uint64(data[32:])), 56, 56
	} else {
		phoff = int(order.Uint32(data[28:]))
	}
	own = int(order.Uint16(data[phnum:]))
	headers := bytes.Clone(data[phoff : phoff+header*own])
	at := len(data)
	for i := range many {
		h := make([]byte, header)
		order.PutUint32(h, uint32(elf.PT_LOAD))
		if addr := 0x100 * uint64(i+1); wide {
			order.PutUint32(h[4:], uint32(elf.PF_R))
			order.PutUint64(h[16:], addr)
			order.PutUint64(h[40:], 0x100)
		} else {
			order.PutUint32(h[24:], uint32(elf.PF_R))
			order.PutUint32(h[8:], uint32(addr/16))
			order.PutUint32(h[20:], 0x10)
		}
		data = append(data, h...)
	}
	data = append(data, headers...)
	section := len(data)
	order.PutUint16(data[phnum:], 0xffff)
	if wide {
		order.PutUint64(data[32:], uint64(at))
		order.PutUint64(data[40:], uint64(section))
		order.PutUint16(data[58:], 64)
		data = append(data, make([]byte, 64)...)
		order.PutUint32(data[section+44:], uint32(many+own))
	} else {
		order.PutUint32(data[28:], uint32(at))
		order.PutUint32(data[32:], uint32(section))
		order.PutUint16(data[46:], 40)
		data = append(data, make([]byte, 40)...)
		order.PutUint32(data[section+28:], uint32(many+own))
	}
	order.PutUint16(data[phnum+4:], 1) // e_shnum
	order.PutUint16(data[phnum+6:], 0) // e_shstrndx
	return data
}

// TestManyProgramHeaders: a core of a process with more mappings than e_phnum counts has the
// threads, modules and memory of the same core with few.
func TestManyProgramHeaders(t *testing.T) {
	for _, name := range []string{"arm64-qemu", "s390x-qemu", "i386-qemu", "arm-qemu"} {
		few, err := os.ReadFile("testdata/" + name + ".core")
		if err != nil {
			t.Fatal(err)
		}
		many := withMany(few, 70_000)
		read := func(data []byte) *Target {
			tg, err := Read(bytes.NewReader(data), int64(len(data)), Options{Sysroot: "/nonexistent"})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return tg
		}
		bounds.Hold(t, 16<<20+8*len(many), func() {
			got, want := read(many), read(few)
			if len(got.threads) != len(want.threads) || got.Command != want.Command || len(got.own.List) != 70_000+len(want.own.List) {
				t.Errorf("%s: %d threads, %d segments; want %d, 70,000 more than %d", name, len(got.threads), len(got.own.List), len(want.threads), len(want.own.List))
			}
			var from, to []string
			for _, m := range want.modules.All() {
				from = append(from, m.Path)
			}
			for _, m := range got.modules.All() {
				to = append(to, m.Path)
			}
			if !reflect.DeepEqual(from, to) {
				t.Errorf("%s: modules %q, want %q", name, to, from)
			}
			for i, th := range want.threads {
				var r, own arch.Registers
				th.Registers(&r)
				got.threads[i].Registers(&own)
				if r != own {
					t.Errorf("%s: registers of thread %d: %v, want %v", name, th.ID(), own, r)
				}
			}
			compared := 0
			for _, s := range want.own.List {
				a, b := make([]byte, s.Has), make([]byte, s.Has)
				want.own.ReadMemory(s.Lo, a)
				if n, _ := got.own.ReadMemory(s.Lo, b); n < len(b) || !bytes.Equal(a, b) {
					t.Errorf("%s: %d bytes at %#x, want %d", name, n, s.Lo, len(b))
				}
				compared += len(a)
			}
			if compared == 0 {
				t.Errorf("%s has no memory", name)
			}
			got.Close()
			want.Close()
		})
		broken := bytes.Clone(many)
		clear(broken[len(broken)-20:]) // sh_info is 0: then 65,535 is the number
		Read(bytes.NewReader(broken), int64(len(broken)), Options{})
		for i := range 20 {
			broken[len(broken)-1-i] = 0xff // more than the file has
		}
		if _, err := Read(bytes.NewReader(broken), int64(len(broken)), Options{}); err == nil || !strings.Contains(err.Error(), "4294967295 program headers") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
