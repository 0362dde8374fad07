package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/jitdump"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// A script with Python's struct module has read these values from the real files.
func TestJitDump(t *testing.T) {
	type load struct {
		lo, size uint64
		name     string
	}
	for _, tt := range []struct {
		file string
		want []load
	}{
		{"jit-node18.dump", []load{
			{0x7f551f0a5f40, 0x64, "Builtin:JSEntryTrampoline"},
			{0x7f551f10a180, 0x38, "Builtin:ReflectApply"},
			{0x7f549f321a00, 0x4f0, "LazyCompile:~outer /tmp/pm/stack.js:10"},
		}},
		{"jit-node20.dump", []load{
			{0x18ce080, 0x64, "Builtin:JSEntryTrampoline"},
			{0x18d0ac0, 0x54, "Builtin:BaselineLeaveFrame"},
			{0x1941a00, 0x38, "Builtin:ReflectApply"},
			{0x7f54bb7ca580, 0x68, "JS:^isPosixPathSeparator node:path:71:30"},
			{0x7f54bb7e4300, 0x378, "JS:inner /tmp/pm/hot.js:3:15"},
			{0x7f54bb7e46c0, 0x5c, "JS:^outer /tmp/pm/hot.js:16:15"},
			{0x7f54bb7e4740, 0xc8, "JS:*middle /tmp/pm/hot.js:11:16"},
		}},
	} {
		data := testdata(t, tt.file)
		d := &jitDump{machine: uint16(elf.EM_X86_64)}
		records := scanAll(t, d, data)
		if len(records) != len(tt.want) {
			t.Fatalf("%s: %d records, want %d", tt.file, len(records), len(tt.want))
		}
		for i, want := range tt.want {
			got, err := d.describe(bytes.NewReader(data), records[i].at)
			if err != nil || got.lo != want.lo || got.hi != want.lo+want.size || got.name != want.name || got.lines != nil {
				t.Errorf("%s: record %d is %+v, %v; want %+v", tt.file, i, got, err, want)
			}
		}
	}
}

// dump writes a jitdump by the specification.
type dump struct {
	bytes.Buffer
	order binary.ByteOrder
}

func newDump(order binary.ByteOrder, machine elf.Machine) *dump {
	d := &dump{order: order}
	d.put(uint32(0x4a695444), uint32(1), uint32(jitdump.HeaderSize), uint32(machine), uint32(0), uint32(1), uint64(0), uint64(0))
	return d
}

func (d *dump) put(fields ...any) {
	for _, f := range fields {
		var b [8]byte
		switch f := f.(type) {
		case string:
			d.WriteString(f)
		case uint32:
			d.order.PutUint32(b[:], f)
			d.Write(b[:4])
		case uint64:
			d.order.PutUint64(b[:], f)
			d.Write(b[:])
		default:
			panic(f)
		}
	}
}

func (d *dump) record(kind uint32, fields ...any) {
	body := dump{order: d.order}
	body.put(fields...)
	d.put(kind, uint32(16+body.Len()), uint64(7), body.String())
}

func (d *dump) load(number, lo, size uint64, name string) {
	d.record(uint32(jitdump.Load), uint32(1), uint32(1), lo, lo, size, number, name+"\x00", strings.Repeat("\xcc", int(size)))
}

// sample is a dump with one of each kind of records.
func sample(order binary.ByteOrder, machine elf.Machine) *dump {
	d := newDump(order, machine)
	d.record(uint32(jitdump.Debug), uint64(0x2000), uint64(3),
		uint64(0x2000), uint32(10), uint32(0), "/src/a.x\x00",
		uint64(0x2004), uint32(11), uint32(2), "\xff\x00",
		uint64(0x2008), uint32(3), uint32(0), "/src/b.x\x00")
	d.record(9, "of a later version")
	d.load(0, 0x1000, 0x20, "first")
	d.load(1, 0x2000, 0x10, "second")
	d.record(uint32(jitdump.Move), uint32(1), uint32(1), uint64(0x1010), uint64(0x2000), uint64(0x1010), uint64(0x10), uint64(1))
	d.record(3) // close
	return d
}

// Code that has moved has its name and its lines at its new place.
func TestJitDumpMoves(t *testing.T) {
	for _, tt := range []struct {
		order   binary.ByteOrder
		machine elf.Machine
	}{{binary.LittleEndian, elf.EM_AARCH64}, {binary.BigEndian, elf.EM_S390}} {
		data := sample(tt.order, tt.machine).Bytes()
		d := &jitDump{machine: uint16(tt.machine)}
		x := flatten(scanAll(t, d, data))
		for addr, want := range map[uint64]description{
			0x1008: {lo: 0x1000, hi: 0x1020, name: "first"},
			0x1018: {lo: 0x1010, hi: 0x1020, name: "second", lines: []line{{0x1010, "/src/a.x", 10}, {0x1014, "/src/a.x", 11}, {0x1018, "/src/b.x", 3}}},
			0x2008: {lo: 0x2000, hi: 0x2010, name: "second", lines: []line{{0x2000, "/src/a.x", 10}, {0x2004, "/src/a.x", 11}, {0x2008, "/src/b.x", 3}}},
		} {
			c, ok := x.find(addr)
			got, err := d.describe(bytes.NewReader(data), c.at)
			if !ok || err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v: at %#x %+v, %v; want %+v", tt.order, addr, got, err, want)
			}
		}
	}
}

func TestJitDumpMalformed(t *testing.T) {
	good := sample(binary.LittleEndian, elf.EM_X86_64).Bytes()
	change := func(at int, to ...byte) []byte {
		data := bytes.Clone(good)
		copy(data[at:], to)
		return data
	}
	for _, tt := range []struct {
		what string
		data []byte
		want error
	}{
		{"magic", change(0, 'E', 'L', 'F'), jitdump.ErrMagic},
		{"version", change(4, 2), jitdump.ErrVersion},
		{"machine", change(12, 183), jitdump.ErrMachine},
		{"header's size", change(8, 39), nil},
		{"record's size", change(jitdump.HeaderSize+4, 15), nil},
		{"size of a record of its kind", change(jitdump.HeaderSize+4, 20), nil},
	} {
		_, _, err := (&jitDump{machine: uint16(elf.EM_X86_64)}).scan(bytes.NewReader(tt.data), 0, int64(len(tt.data)), always)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, err, tt.want)
		}
	}
	// However much of the file is written, that part is read, and the rest later.
	for n := range good {
		d := &jitDump{machine: uint16(elf.EM_X86_64)}
		first, next, err := d.scan(bytes.NewReader(good[:n]), 0, int64(n), always)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		second, next, err := d.scan(bytes.NewReader(good), next, int64(len(good)), always)
		if err != nil || next != int64(len(good)) || len(first)+len(second) != 3 {
			t.Fatalf("%d bytes, then all: %d records and %d, read to %d, %v", n, len(first), len(second), next, err)
		}
	}
}

func FuzzJitDump(f *testing.F) {
	f.Add(testdata(f, "jit-node18.dump"))
	f.Add(testdata(f, "jit-node20.dump"))
	f.Add(sample(binary.LittleEndian, elf.EM_X86_64).Bytes())
	big := sample(binary.BigEndian, elf.EM_S390).Bytes()
	f.Add(big)
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 1<<20+512*len(data), func() {
			for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_S390} {
				checkFormat(t, &jitDump{machine: uint16(m)}, data)
			}
		})
	})
}
