// Package dumptest makes minidumps for tests, field by field as minidumpapiset.h, Breakpad and
// Crashpad lay them out.
package dumptest

import (
	"encoding/binary"
	"unicode/utf16"
)

// Dump is a dump in the making.
type Dump struct {
	Order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
	streams []stream
	data    []byte // behind the directory, whose place is kept free
}

type stream struct {
	kind, size, at uint32
}

// room is the size of the header and the directory.
const room = 32 + 12*32

// New begins a dump of up to 32 streams, of little endian.
func New() *Dump { return &Dump{Order: binary.LittleEndian, data: make([]byte, room)} }

// Put adds bytes, and returns their offset. It keeps offsets multiples of 8.
func (d *Dump) Put(b []byte) uint32 {
	at := uint32(len(d.data))
	d.data = append(d.data, b...)
	d.data = append(d.data, make([]byte, -len(d.data)&7)...)
	return at
}

// At puts bytes, and returns their MINIDUMP_LOCATION_DESCRIPTOR.
func (d *Dump) At(b []byte) []byte { return d.U32(uint32(len(b)), d.Put(b)) }

// Text puts a MINIDUMP_STRING, and returns its offset.
func (d *Dump) Text(s string) uint32 {
	var b []byte
	for _, w := range utf16.Encode([]rune(s)) {
		b = d.Order.AppendUint16(b, w)
	}
	return d.Put(append(d.U32(uint32(len(b))), append(b, 0, 0)...))
}

// UTF8 puts a MinidumpUTF8String, and returns its offset.
func (d *Dump) UTF8(s string) uint32 {
	return d.Put(append(d.U32(uint32(len(s))), append([]byte(s), 0)...))
}

// Stream adds a stream.
func (d *Dump) Stream(kind uint32, parts ...[]byte) {
	b := Join(parts...)
	d.streams = append(d.streams, stream{kind, uint32(len(b)), d.Put(b)})
}

// Bytes returns the dump, written at a time of Unix's.
func (d *Dump) Bytes(time uint32) []byte {
	b := append([]byte(nil), d.data...)
	copy(b, Join(d.U32(0x504d444d, 0xa793, uint32(len(d.streams)), 32, 0, time), d.U64(0x800)))
	for i, s := range d.streams {
		copy(b[32+12*i:], d.U32(s.kind, s.size, s.at))
	}
	return b
}

// Join returns the parts, one behind the other.
func Join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// U16, U32 and U64 return numbers as the dump has them.
func (d *Dump) U16(list ...uint16) (b []byte) {
	for _, v := range list {
		b = d.Order.AppendUint16(b, v)
	}
	return b
}

func (d *Dump) U32(list ...uint32) (b []byte) {
	for _, v := range list {
		b = d.Order.AppendUint32(b, v)
	}
	return b
}

func (d *Dump) U64(list ...uint64) (b []byte) {
	for _, v := range list {
		b = d.Order.AppendUint64(b, v)
	}
	return b
}

// System adds the system information of a processor and an operating system.
func (d *Dump) System(processor uint16, os uint32, version string) {
	text := d.Text(version)
	d.Stream(7, d.U16(processor, 6, 0x1703), []byte{4, 1}, d.U32(10, 0, 19042, os, text), d.U16(0, 0), []byte("GenuineIntel"), d.U32(0, 0, 0))
}

// Thread returns a MINIDUMP_THREAD.
func (d *Dump) Thread(id uint32, sp uint64, stack, context []byte) []byte {
	return Join(d.U32(id, 0, 0, 0), d.U64(0x7ff000, sp), d.At(stack), d.At(context))
}

// Module returns a MINIDUMP_MODULE with a CodeView record.
func (d *Dump) Module(name string, base uint64, size uint32, codeview []byte) []byte {
	return d.ModuleAt(name, base, size, 0x5f000000, codeview)
}

// ModuleAt is Module with the time stamp of the module's linker.
func (d *Dump) ModuleAt(name string, base uint64, size, stamp uint32, codeview []byte) []byte {
	return Join(d.U64(base), d.U32(size, 0, stamp, d.Text(name), 0xfeef04bd, 0x10000, 10<<16|1, 7<<16|2), make([]byte, 9*4), d.At(codeview), make([]byte, 8+16))
}

// AMD64 returns a CONTEXT of x64 whose integer registers are 0x1000 times their place in it, but
// for rip, rsp and rbp.
func (d *Dump) AMD64(rip, rsp, rbp uint64) []byte {
	b := make([]byte, 1232)
	copy(b[48:], d.U32(0x10001f))
	copy(b[56:], d.U16(0x33))
	for i := range uint64(16) {
		copy(b[120+8*i:], d.U64(0x1000*i))
	}
	copy(b[152:], d.U64(rsp, rbp))
	copy(b[248:], d.U64(rip))
	return b
}

// ARM64 returns a CONTEXT of arm64 whose registers x0 to x30 are 0x1000 times their number, but for
// fp and lr.
func (d *Dump) ARM64(pc, sp, fp, lr uint64) []byte {
	b := make([]byte, 912)
	copy(b, d.U32(0x400007))
	for i := range uint64(29) {
		copy(b[8+8*i:], d.U64(0x1000*i))
	}
	copy(b[240:], d.U64(fp, lr, sp, pc))
	return b
}
