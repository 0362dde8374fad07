package v8

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// packedAt is where the heap of the packed sample begins. Its cage has all.
const (
	packedAt    = packedCage + 0x10000
	packedCage  = 3 * cageSize
	packedTable = 0x200 // of an isolate: the cage of what must not be forged, and its table
)

// packedLayout is the layout of V8 15.0 with packed values. The types of objects are numbers of
// one's own.
func packedLayout() *layout { return packedLayoutOf(15, 0) }

// packedLayoutOf is packedLayout of another release.
func packedLayoutOf(major, minor int) *layout {
	l := smallLayout()
	known, _ := releaseOf(major, minor)
	l.major, l.minor, l.release, l.baseline = major, minor, *known, 11
	l.pack()
	return l
}

// packer makes objects with packed values.
type packer struct {
	data []byte
	maps map[uint16]uint64
}

func (m *packer) room(n, align int) uint64 {
	for len(m.data)%align != 0 {
		m.data = append(m.data, 0)
	}
	at := len(m.data)
	m.data = append(m.data, make([]byte, n)...)
	return packedAt + uint64(at) + 1
}

func (m *packer) put(object, offset uint64, v uint32) {
	binary.LittleEndian.PutUint32(m.data[object-1-packedAt+offset:], v)
}

func (m *packer) put8(at, v uint64) { binary.LittleEndian.PutUint64(m.data[at-packedAt:], v) }

// number packs a small integer.
func number(n int) uint64 { return uint64(uint32(n) << 1) }

// of returns the Map of objects of a type.
func (m *packer) of(t uint16) uint64 {
	if m.maps[t] == 0 {
		m.maps[t] = m.room(40, 8)
		binary.LittleEndian.PutUint16(m.data[m.maps[t]-1-packedAt+8:], t)
	}
	return m.maps[t]
}

// object makes an object of a type, with values behind its Map.
func (m *packer) object(t uint16, words ...uint64) uint64 {
	of := m.of(t)
	at := m.room(4+4*len(words), 8)
	m.put(at, 0, uint32(of))
	for i, v := range words {
		m.put(at, 4+4*uint64(i), uint32(v))
	}
	return at
}

func (m *packer) text(s string) uint64 {
	at := m.object(8|sequence, append([]uint64{0, uint64(len(s))}, make([]uint64, (len(s)+3)/4)...)...)
	copy(m.data[at-1-packedAt+12:], s)
	return at
}

func (m *packer) bytes(p ...byte) uint64 {
	at := m.object(196, append([]uint64{uint64(len(p))}, make([]uint64, (len(p)+3)/4)...)...)
	copy(m.data[at-1-packedAt+8:], p)
	return at
}

// packedSample is sample with packed values.
type packedSample struct {
	sample
	isolate uint64
}

func makePacked() (x packedSample) {
	m := &packer{maps: map[uint16]uint64{}}
	const (
		trusted = 2 // entries of the one table that is there: bytecode, and a text outside of the heap
		owner   = 5
		texts   = 6
	)
	isolate := m.room(packedTable+96, 8) - 1
	text := m.room(64, 8) - 1
	copy(m.data[text-packedAt:], "class Server {\n")
	source := m.object(8|concatenation, 0, 24, m.object(8|external, 0, 15, owner<<textShift, texts<<textShift), m.text("handle() {}\n\n\n"))
	script := m.object(167, source, m.text("/srv/app.js"), 0, 0, 0, 0, 0, number(7), 0, 0, 0, 0, 0, 0, 0)
	scope := m.object(280, 1<<12, number(0), number(0), number(15), number(26), m.text("handle"), number(-1))
	positions := m.bytes(8|4, 64, 16, 8) // offset 0: 15; offset 2: 17
	bytecode := m.object(186, 0, number(6), 0, positions, 0, 0, 0, 0, 0, 0x0b0b0b0b, 0x0b0b)
	x.shared = m.object(282, trusted<<trustedShift, 0, scope, 0, script, 0, 0, 0, 0)
	x.function = m.object(2065, 0, 0, 0, x.shared, 0, 0, 0)
	class := m.object(2066, 0, 0, 0, m.object(282, 0, number(9), m.text("Server"), 0, script, 0, 0, 0), 0, 0, 0)
	descriptors := m.object(252, 0, 0, 0, 0, m.text("handle"), number(detailConstant), x.function)
	x.this = m.object(1057, 0, 0)
	of := m.of(1057)
	m.data[of-1-packedAt+4], m.data[of-1-packedAt+5], m.data[of-1-packedAt+11] = 3, 3, mapIsBase
	m.put(of, 12, 1<<mapOwnShift)
	m.put(of, 20, uint32(class))
	m.put(of, 24, uint32(descriptors))
	translation := m.bytes(15, 0, 4, 4, 1, 0, 0, 0, 0, 38, 0, 38, 0, 1, 4, 0, 0, 0, 38, 0, 40, 6)
	literals := m.object(205, 1, x.shared)
	data := m.object(193, 15, translation, 0, 0, literals, 0, 0, 0, m.object(195, x.shared), 0, 0, 0, 0, 0, 0, 0)
	x.code = m.object(187, 0, data, positions, 0, 0, 0, 0, 0, 13, 16, 0)
	of = m.of(192)
	instructions := m.room(16+16+24, 64) + 48 // behind them, the table of one safepoint, at 8
	m.data = append(m.data, make([]byte, 64)...)
	m.put(instructions, 0, uint32(of))
	m.put(instructions, 4, uint32(x.code))
	x.text = instructions - 1 + 16
	m.put8(x.code-1+24, x.text)
	for i, v := range []uint32{0, 1, 1 | 1<<4 | 1<<7, 8 | 1<<8} {
		m.put(x.text+1, 16+4*uint64(i), v)
	}
	table := m.room(8*(texts+1), tableAlign) - 1
	m.put8(isolate, packedCage)
	m.put8(isolate+isolateSelf, isolate)
	m.put8(isolate+0x100, 4*cageSize) // of no objects
	m.put8(isolate+packedTable, packedCage)
	m.put8(isolate+packedTable+8, table)
	m.put8(isolate+packedTable+72, table)
	m.put8(table+8*trusted, bytecode|0x18<<48)
	m.put8(table+8*owner, text+32|2<<entryTagShift)
	m.put8(table+8*texts, text|3<<entryTagShift)
	x.data, x.isolate = m.data, isolate
	return x
}

// allPacked reads all that there is to read, as all does.
func allPacked(data []byte, x packedSample) (list []language.Frame, codes int, entered bool) {
	e := &engine{layout: packedLayout()}
	memory := memtest.Flat{Lo: packedAt, Data: data}
	h := newHeap(structs.New(amd64.Arch, memory, &spare), e.layout)
	defer h.Free()
	entered = h.enter(x.isolate)
	h.Err()
	w := &walk{engine: e, heap: h, stack: &language.Stack{Arch: amd64.Arch, Memory: memory}}
	f, ok := h.functionOf(x.shared)
	if ok {
		list = w.frames(&call{function: f, object: x.function, this: value{known: true, word: x.this}, offset: 3, kind: "interpreted"})
	}
	h.Err()
	if c, ok := h.codeAt(x.text + 8); ok {
		codes++
		deopt, _ := h.safepoint(&c, 8)
		if c.kind != 13 { // of which the table has another form
			codes = 0
		}
		for _, n := range h.inlined(&c, max(deopt, 0)) {
			codes++
			h.functionOf(n.shared)
			h.nameOf(&f, n.function.word, n.this, n.constructor)
		}
		h.sharedIn(h.protected(c.object, h.codeDeopt))
		h.bytecodeIn(h.protected(c.object, h.codeDeopt))
		h.baselineOffset(h.bytes(h.protected(c.object, h.codePositions), mostTable), h.raw(x.shared, 64), 8)
	}
	h.Err()
	h.onStack(packedAt + 64)
	h.Err()
	return list, codes, entered
}

// TestPacked: the packed heap that the fuzz test begins with is a good one.
func TestPacked(t *testing.T) {
	x := makePacked()
	list, codes, entered := allPacked(x.data, x)
	if !entered {
		t.Error("the isolate has no cages")
	}
	if len(list) != 1 || list[0].Function != "Server.handle" || list[0].File != "/srv/app.js" || list[0].Line != 2 || list[0].Column != 3 || list[0].Guess {
		t.Errorf("%+v", list)
	}
	if codes != 3 {
		t.Errorf("%d of the code and its two functions", codes)
	}
}

// TestPackedCodeBefore: up to V8 14.8, code has no address, but leads back to its instructions, and
// the table of code has entries of two words.
func TestPackedCodeBefore(t *testing.T) {
	const flags, size, number = 13, 16, 1<<9 | codeMark
	for _, off := range []uint32{0, 64} {
		x := makePacked()
		put := func(at uint64, v uint32) { binary.LittleEndian.PutUint32(x.data[at-packedAt:], v) }
		for i, v := range []uint32{uint32(x.text-16+1) + off, 0, flags, size} {
			put(x.code-1+20+4*uint64(i), v)
		}
		put(x.shared-1+4, number)
		table := binary.LittleEndian.Uint64(x.data[x.isolate+packedTable+8-packedAt:])
		binary.LittleEndian.PutUint64(x.data[table+16+8-packedAt:], x.code)
		h := newHeap(structs.New(amd64.Arch, memtest.Flat{Lo: packedAt, Data: x.data}, &spare), packedLayoutOf(14, 8))
		if !h.enter(x.isolate) {
			t.Fatal("the isolate has no cages")
		}
		c, ok := h.findCode(x.text + 8)
		if ok != (off == 0) || ok && c != (code{x.code, flags, x.text, x.text + size}) {
			t.Errorf("code that leads to what is %d bytes off: %+v %v", off, c, ok)
		}
		if got := h.trustedIn(x.shared, h.functionData); got != x.code {
			t.Errorf("%#x, want %#x", got, x.code)
		}
		h.Free()
	}
}

// TestPackedReleases: all is known of each release of which something is.
func TestPackedReleases(t *testing.T) {
	files, err := constantFiles.ReadDir("constants")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		v := &version{packed: true}
		if _, err := fmt.Sscanf(f.Name(), "%d.%d.packed", &v.major, &v.minor); err != nil {
			continue
		}
		found++
		text, err := packedConstants(v.major, v.minor)
		if err != nil {
			t.Fatal(err)
		}
		v.told = constantsIn(string(text))
		if l, err := layOut(&constants{version: v}); err != nil || !l.packed {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
	if found < 7 {
		t.Errorf("%d releases", found)
	}
}

// FuzzPacked reads the packed objects of a malicious process.
func FuzzPacked(f *testing.F) {
	x := makePacked()
	f.Add(x.data)
	before := mostEffort
	mostEffort = 1 << 20
	defer func() { mostEffort = before }()
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 32<<20+64*len(data), func() { allPacked(data, x) })
	})
}
