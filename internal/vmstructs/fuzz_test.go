package vmstructs

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/target"
)

// imageAt is where an image lies in memory.
const imageAt = 0x10000

// image is memory from imageAt on.
type image []byte

func (m image) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < imageAt || addr-imageAt >= uint64(len(m)) {
		return 0, target.ErrUnmapped
	}
	if n := copy(p, m[addr-imageAt:]); n < len(p) {
		return n, target.ErrUnmapped
	}
	return len(p), nil
}

// exportedNames are the symbols of an image. Each is a word, from the image's beginning on.
var exportedNames = []string{
	"Structs", "StructEntryArrayStride", "StructEntryTypeNameOffset", "StructEntryFieldNameOffset", "StructEntryTypeStringOffset",
	"StructEntryIsStaticOffset", "StructEntryOffsetOffset", "StructEntryAddressOffset",
	"Types", "TypeEntryArrayStride", "TypeEntryTypeNameOffset", "TypeEntrySizeOffset", "TypeEntryIsUnsignedOffset",
	"IntConstants", "IntConstantEntryArrayStride", "IntConstantEntryNameOffset", "IntConstantEntryValueOffset",
	"LongConstants", "LongConstantEntryArrayStride", "LongConstantEntryNameOffset", "LongConstantEntryValueOffset",
}

func exported() map[string]elf.Symbol {
	list := make(map[string]elf.Symbol)
	for i, name := range exportedNames {
		list[Prefix+name] = elf.Symbol{Addr: imageAt + uint64(8*i), Size: 8}
	}
	return list
}

// blobPC is an address in the code of made's only blob. The blob's frame has six words.
const blobPC = heapAt + 2*64 + 16 + 64 + 8

const heapAt = imageAt + 0xe00

// smallVM is an image of a small virtual machine.
func smallVM() image {
	m := make(image, 0x1100)
	order := binary.LittleEndian
	put := func(at int, v uint64) { order.PutUint64(m[at:], v) }
	text := 0x900
	str := func(s string) uint64 {
		at := text
		text += copy(m[text:], s) + 1
		return imageAt + uint64(at)
	}
	word := 0
	head := func(values ...uint64) {
		for _, v := range values {
			put(8*word, v)
			word++
		}
	}
	const structs, types, ints, longs = 0x100, 0x700, 0x800, 0x840
	head(imageAt+structs, 48, 0, 8, 16, 24, 32, 40)
	head(imageAt+types, 24, 0, 8, 16)
	head(imageAt+ints, 16, 0, 8)
	head(imageAt+longs, 16, 0, 8)
	at := structs
	field := func(of, name, typ string, offset, address uint64) {
		put(at, str(of))
		put(at+8, str(name))
		put(at+16, str(typ))
		if address != 0 {
			put(at+24, 1)
		}
		put(at+32, offset)
		put(at+40, address)
		at += 48
	}
	const statics = 0x860 // the lists' addresses
	field("CodeCache", "_heaps", "p", 0, imageAt+statics)
	field("GrowableArrayBase", "_len", "int", 0, 0)
	field("GrowableArray<int>", "_data", "p", 8, 0)
	field("CodeHeap", "_memory", "v", 0, 0)
	field("CodeHeap", "_segmap", "v", 16, 0)
	field("CodeHeap", "_log2_segment_size", "int", 32, 0)
	field("VirtualSpace", "_low", "p", 0, 0)
	field("VirtualSpace", "_high", "p", 8, 0)
	field("HeapBlock", "_header", "h", 0, 0)
	field("HeapBlock::Header", "_used", "bool", 8, 0)
	field("CodeBlob", "_frame_size", "int", 0, 0)
	field("CodeBlob", "_frame_complete_offset", "int", 4, 0)
	field("CodeBlob", "_code_offset", "int", 8, 0)
	field("CodeBlob", "_data_offset", "int", 12, 0)
	field("AbstractInterpreter", "_code", "q", 0, imageAt+statics+8)
	field("StubQueue", "_stub_buffer", "p", 0, 0)
	field("StubQueue", "_buffer_limit", "int", 8, 0)
	field("StubQueue", "_queue_begin", "int", 12, 0)
	field("StubQueue", "_queue_end", "int", 16, 0)
	field("InterpreterCodelet", "_size", "int", 0, 0)
	field("InterpreterCodelet", "_description", "p", 8, 0)
	at = types
	for _, typ := range []struct {
		name string
		size uint64
	}{{"int", 4}, {"bool", 1}, {"HeapBlock", 16}, {"InterpreterCodelet", 16}} {
		put(at, str(typ.name))
		put(at+8, typ.size)
		at += 24
	}
	put(ints, str("frame::interpreter_frame_sender_sp_offset"))
	order.PutUint32(m[ints+8:], ^uint32(0))
	// A list of one heap, the heap, its map, and the interpreter's code behind it.
	put(statics, imageAt+0x880)
	put(statics+8, imageAt+0x8d0)
	order.PutUint32(m[0x880:], 1)
	put(0x888, imageAt+0x890)
	put(0x890, imageAt+0x898)
	put(0x898, heapAt)
	put(0x8a0, heapAt+0x200)
	put(0x8a8, imageAt+0x8c0)
	order.PutUint32(m[0x8b8:], 6)
	copy(m[0x8c0:], []byte{0xff, 0xff, 0, 1, 2, 3, 0xff, 0xff})
	put(0x8d0, heapAt+0x200)
	order.PutUint32(m[0x8d8:], 0x80)
	order.PutUint32(m[0x8e0:], 0x80)
	block := heapAt - imageAt + 2*64
	m[block+8] = 1
	blob := block + 16
	order.PutUint32(m[blob:], 6)
	order.PutUint32(m[blob+8:], 64)
	order.PutUint32(m[blob+12:], 160)
	order.PutUint32(m[heapAt-imageAt+0x200:], 0x80)
	put(heapAt-imageAt+0x208, str("return entry points"))
	return m
}

// read reads the image's tables, and looks up an address.
func (m image) read(pc uint64) (b Blob, c Codelet, err error) {
	r := &Reader{Memory: m, Order: binary.LittleEndian}
	t, ok := Read(r, exported(), 0)
	if !ok {
		return b, c, ErrUnread
	}
	needed := Needed{Tables: t}
	blobs, code := needed.CodeCache(), needed.Interpreter()
	if err := needed.Err(); err != nil {
		return b, c, err
	}
	code.Code(r)
	c, _ = code.Codelet(r, pc)
	b, err = blobs.Find(r, pc, nil)
	adapters := needed.Adapters()
	adapters.Has(r, &b)
	adapters.Entry(r, &b, b.At)
	continuations := needed.Continuations()
	continuations.Moves(r, &b, pc)
	if barrier, ok := continuations.Barrier(r, &b); ok {
		continuations.Entry(r, barrier, b.At)
	}
	return b, c, err
}

// The image that the fuzz test begins with is a good one.
func TestMade(t *testing.T) {
	b, _, err := smallVM().read(blobPC)
	if want := (Blob{heapAt + 2*64 + 16, heapAt + 2*64 + 16 + 64, heapAt + 2*64 + 16 + 160, 6, 0}); err != nil || b != want {
		t.Errorf("%+v, %v; want %+v", b, err, want)
	}
	if _, _, err := smallVM().read(heapAt + 70); err != ErrNoBlob {
		t.Errorf("in a free segment: %v", err)
	}
	if _, c, _ := smallVM().read(heapAt + 0x240); c.Name != "return entry points" || c.Hi != heapAt+0x280 {
		t.Errorf("codelet %q up to %#x", c.Name, c.Hi)
	}
}

// counted is memory in which each word is a codelet's size. It counts how often it is read.
type counted struct{ reads int }

func (m *counted) ReadMemory(_ uint64, p []byte) (int, error) {
	m.reads++
	binary.LittleEndian.PutUint32(p, 32)
	return len(p), nil
}

// What is read to find the codelets of many addresses does not grow with how many codelets there
// are.
func TestManyCodelets(t *testing.T) {
	const begin, size, addresses = 0x10000, 32, 20000
	m := &counted{}
	r, list := &Reader{Memory: m, Order: binary.LittleEndian}, codeletList{}
	for _, end := range []uint64{begin + 100*size, begin + 2*maxCodelets*size} { // the queue grows as the machine starts
		for i := range uint64(addresses) {
			pc := begin + i*16
			at, hi, ok := list.find(r, Field{Size: 4}, begin, end, pc)
			if listed := pc < min(end, begin+maxCodelets*size); ok != listed || ok && (at != begin+i/2*size || hi != at+size) {
				t.Fatalf("%#x of %#x: from %#x to %#x, %t", pc, end, at, hi, ok)
			}
		}
	}
	if m.reads > 2*maxCodelets {
		t.Errorf("%d reads for %d addresses", m.reads, 2*addresses)
	}
}

// FuzzTables reads the tables of a malicious virtual machine.
func FuzzTables(f *testing.F) {
	m := smallVM()
	f.Add([]byte(m), uint16(blobPC-imageAt))
	f.Add([]byte(m), uint16(heapAt+0x240-imageAt))
	endless := smallVM()
	copy(endless[0x108:], endless[0x100:0x700]) // entries that overlap
	f.Add([]byte(endless), uint16(0))
	hops := smallVM()
	copy(hops[0x8c0:], []byte{1, 1, 1, 1, 1, 1, 1, 1})
	f.Add([]byte(hops), uint16(blobPC-imageAt))
	f.Fuzz(func(t *testing.T, data []byte, pc uint16) {
		bounds.Hold(t, 4<<20+64*len(data), func() { image(data).read(imageAt + uint64(pc)) })
	})
}
