package v8

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const heapAt = 0x10000

// smallLayout is like V8 13.6's. The types of objects are numbers of one's own.
func smallLayout() *layout {
	l := &layout{
		major: 13, word: 8, bytecodeLength: 8, mapType: 12, mapBits2: 15, mapBits3: 16, mapPrototype: 24, mapConstructor: 32, mapDescriptors: 40, mapInObject: 9, mapWords: 8,
		functionShared: 32, functionData: 8, sharedName: 24, sharedScript: 40, sharedFlags: 56,
		scriptSource: 8, scriptName: 16, scriptEnds: 56, scriptLine: 24, scriptColumn: 32, scriptType: 48, scriptID: 64,
		uncompiledStart: 16, uncompiledEnd: 20, uncompiledName: 8, scopeFirst: 5, bytecodes: 64, arrayLength: 8, array: 16,
		objectProperties: 8, descriptors: 24, dictionaryFirst: 6, oddballKind: 40,
		stringLength: 12, chars: 16, consFirst: 16, consSecond: 24, slicedParent: 16, slicedOffset: 24, thinActual: 16, externalData: 24,
		types: instanceTypes{
			notString: 128, symbol: 128, heapNumber: 130, oddball: 131, accessors: 140, tuple: 173, bytecodeArray: 186, code: 187, interpreterData: 188, instructions: 192,
			protectedFixed: 193, trustedBytes: 196, fixed: 205, byteArray: 217, context: 220, contextEnd: 231, template: 247, meta: 272, scopeInfo: 280, shared: 282, script: 167,
			receiver: 299, proxy: 299, globalProxy: 301, function: 2065, functionEnd: 2082, uncompiled: [4]uint16{175, 176, 177, 178},
		},
		kinds: frameTypes{builtinExit: 27, construct: 24, fastConstruct: 25, wasm: 4, most: 31},
	}
	known, _ := releaseOf(13, 6)
	l.release = *known
	l.baseline = 10
	return l
}

// maker makes objects.
type maker struct {
	data []byte
	maps map[uint16]uint64
}

func (m *maker) room(n int) uint64 {
	for len(m.data)%32 != 0 {
		m.data = append(m.data, 0)
	}
	at := len(m.data)
	m.data = append(m.data, make([]byte, n)...)
	return heapAt + uint64(at) + 1
}

func (m *maker) put(object, offset, v uint64) {
	binary.LittleEndian.PutUint64(m.data[object-1-heapAt+offset:], v)
}

// object makes an object of a type, with words behind its Map.
func (m *maker) object(t uint16, words ...uint64) uint64 {
	if m.maps[t] == 0 {
		m.maps[t] = m.room(80)
		binary.LittleEndian.PutUint16(m.data[m.maps[t]-1-heapAt+12:], t)
	}
	at := m.room(8 + 8*len(words))
	m.put(at, 0, m.maps[t])
	for i, v := range words {
		m.put(at, 8+8*uint64(i), v)
	}
	return at
}

func small(n int) uint64 { return uint64(uint32(n)) << 32 }

// text makes a string, of bytes.
func (m *maker) text(s string) uint64 {
	at := m.object(8|sequence, append([]uint64{small(len(s))}, make([]uint64, (len(s)+7)/8)...)...)
	copy(m.data[at-1-heapAt+16:], s)
	return at
}

// bytes makes an array of bytes.
func (m *maker) bytes(p ...byte) uint64 {
	at := m.object(196, append([]uint64{small(len(p))}, make([]uint64, (len(p)+7)/8)...)...)
	copy(m.data[at-1-heapAt+16:], p)
	return at
}

// sample is a heap with a function "handle" of a class Server, its bytecode, and code of each
// compiler's for it.
type sample struct {
	data                               []byte
	shared, function, this, code, text uint64
}

func makeSample() (x sample) {
	m := &maker{maps: map[uint16]uint64{}}
	source := m.object(8|concatenation, small(24), m.text("class Server {\n"), m.text("handle() {}\n\n\n"))
	script := m.object(167, source, m.text("/srv/app.js"), 0, 0, 0, 0, 0, small(7), 0, 0, 0, 0, 0, 0)
	scope := m.object(280, 1<<12, small(0), small(0), small(15), small(26), m.text("handle"), small(-1))
	positions := m.bytes(2, 64, 4, 8) // offset 0: 15; offset 2: 17
	bytecode := m.object(186, small(6), 0, positions, 0, 0, 0, 0, 0x0b0b0b0b0b0b)
	x.shared = m.object(282, bytecode, 0, scope, 0, script, 0, 0, 0, 0)
	x.function = m.object(2065, 0, 0, 0, x.shared, 0, 0, 0)
	class := m.object(2066, 0, 0, 0, m.object(282, 0, small(9), m.text("Server"), 0, script, 0, 0), 0, 0, 0)
	descriptors := m.object(252, 0, 0, m.text("handle"), small(detailConstant), x.function)
	x.this = m.object(1057, 0, 0)
	of := m.maps[1057]
	m.data[of-1-heapAt+8], m.data[of-1-heapAt+9], m.data[of-1-heapAt+15] = 3, 3, mapIsBase
	m.put(of, 16, 1<<mapOwnShift)
	m.put(of, 32, class)
	m.put(of, 40, descriptors)
	// Code of an optimizing compiler: 16 bytes of instructions, and behind them a table of one
	// safepoint, at 8, where handle is inlined in handle.
	translation := m.bytes(15, 0, 4, 4, 1, 0, 0, 0, 0, 38, 0, 38, 0, 1, 4, 0, 0, 0, 38, 0, 40, 6)
	literals := m.object(205, small(1), x.shared)
	data := m.object(193, small(15), translation, 0, 0, literals, 0, 0, 0, m.object(195, x.shared), 0, 0, 0, 0, 0, 0, 0)
	x.code = m.object(187, data, positions, 0, 0, 0, 12<<32, 16)
	instructions := m.object(192, x.code, 0, 0, 0, 0, 1<<32, uint64(1|1<<4|1<<7)|uint64(8|1<<8)<<32)
	m.put(x.code, 32, instructions)
	m.put(x.code, 40, instructions-1+32)
	x.text, x.data = instructions-1+32, m.data
	return x
}

// spare has the room for what is read, which takes longer to make than to fill.
var spare pages.Spare

// all reads all that there is to read from some addresses.
func all(data []byte, x sample) (list []language.Frame, codes int) {
	e := &engine{layout: smallLayout()}
	memory := memtest.Flat{Lo: heapAt, Data: data}
	h := newHeap(structs.New(amd64.Arch, memory, &spare), e.layout)
	defer h.Free()
	w := &walk{engine: e, heap: h, stack: &language.Stack{Arch: amd64.Arch, Memory: memory}}
	f, ok := h.functionOf(x.shared)
	if ok {
		list = w.frames(&call{function: f, object: x.function, this: value{known: true, word: x.this}, offset: 3, kind: "interpreted"})
	}
	h.Err()
	if c, ok := h.codeAt(x.text + 8); ok {
		codes++
		deopt, _ := h.safepoint(&c, 8)
		for _, n := range h.inlined(&c, deopt) {
			codes++
			h.functionOf(n.shared)
			h.nameOf(&f, n.function.word, n.this, n.constructor)
		}
		h.eachPacked(&c, func(safepoint) {})
		h.sharedIn(h.field(c.object, h.codeDeopt))
		p := h.raw(x.shared, 64)
		h.baselineOffset(h.bytes(h.field(c.object, h.codePositions), mostTable), p, 8)
	}
	h.Err()
	h.leadsTo(x.shared, x.code)
	h.pattern(x.this)
	h.Err()
	h.module(x.shared)
	h.nameIn(h.wasmNames(x.text, heapAt+uint64(len(data))), 2)
	h.Err()
	m := wasmModule{record: heapAt}
	h.findWasmCode(&m)
	if c, ok := h.wasmCode(&m, x.text); ok {
		h.wasmInlined(&c, x.text)
	}
	h.Err()
	h.origin(&e.lines, h.field(x.shared, h.sharedScript), 0)
	h.Err()
	return list, codes
}

// TestMade: the heap that the fuzz test begins with is a good one.
func TestMade(t *testing.T) {
	x := makeSample()
	list, codes := all(x.data, x)
	if len(list) != 1 || list[0].Function != "Server.handle" || list[0].File != "/srv/app.js" || list[0].Line != 2 || list[0].Guess {
		t.Errorf("%+v", list)
	}
	if codes != 3 {
		t.Errorf("%d of the code and its two functions", codes)
	}
}

// FuzzHeap reads the objects of a malicious process.
func FuzzHeap(f *testing.F) {
	x := makeSample()
	f.Add(x.data)
	before := mostEffort
	mostEffort = 1 << 20 // small heaps need less, and the fuzzer finds the ones that lead in circles
	defer func() { mostEffort = before }()
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 32<<20+64*len(data), func() { all(data, x) })
	})
}

// FuzzTables reads tables that are anything.
func FuzzTables(f *testing.F) {
	f.Add([]byte{2, 32, 4, 4}, []byte{15, 0, 4, 4, 1, 0, 0, 0, 39, 0, 39, 0}, uint16(2), uint8(3))
	f.Fuzz(func(t *testing.T, table, other []byte, offset uint16, n uint8) {
		bounds.Hold(t, 1<<20, func() {
			r := tables[int(n)%len(tables)].release()
			position(table, int(offset), r.positionForm)
			r.baselineOffset(table, other, int(offset))
			read := newReader(r.translations, other, int(offset))
			for range mostSteps {
				if read.next(); read.failed {
					break
				}
			}
		})
	})
}
