package r

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const base = 0x10000

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// image makes R's objects in memory.
type image struct {
	b    []byte
	next uint64
}

func (i *image) word(at, v uint64) { binary.LittleEndian.PutUint64(i.b[at-base:], v) }

// object makes an object of n bytes.
func (i *image) object(kind, n uint64) uint64 {
	at := i.next
	i.next += (n + 7) &^ 7
	i.word(at, kind)
	return at
}

func (i *image) chars(text string) uint64 {
	at := i.object(typeChars, vectorData+uint64(len(text)))
	i.word(at+vectorLength, uint64(len(text)))
	copy(i.b[at+vectorData-base:], text)
	return at
}

func (i *image) symbol(name string) uint64 {
	at := i.object(typeSymbol, 56)
	i.word(at+symbolName, i.chars(name))
	return at
}

func (i *image) list(kind, car, cdr, tag uint64) uint64 {
	at := i.object(kind, 56)
	i.word(at+listCar, car)
	i.word(at+listCdr, cdr)
	i.word(at+listTag, tag)
	return at
}

func (i *image) vector(kind uint64, elements ...uint64) uint64 {
	at := i.object(kind, vectorData+8*uint64(len(elements)))
	i.word(at+vectorLength, uint64(len(elements)))
	for n, e := range elements {
		i.word(at+vectorData+8*uint64(n), e)
	}
	return at
}

// The variables of small.
const (
	variableContext = base + 8*iota
	variableNil
	variableCode
	variableSrcref
)

// small returns memory with two contexts: bytecode, which has a table of places, has called the
// inner one.
func small(l *layout) []byte {
	i := &image{make([]byte, 0x2000), base + 0x100}
	null, code := i.object(typeNil, 56), i.symbol("<in-bc-interp>")
	i.word(variableNil, null)
	i.word(variableCode, code)
	file := i.list(typeList, i.vector(typeStrings, i.chars("a.R")), null, i.symbol("filename"))
	srcfile := i.object(typeEnvironment, 56)
	i.word(srcfile+environHashes, i.vector(typeVector, null, file))
	srcref := i.vector(typeInts, 7, 0, 0, 0)
	i.word(srcref+objectAttrib, i.list(typeList, srcfile, null, i.symbol("srcfile")))
	table := i.vector(typeInts, 1, 1, 0, 0)
	i.word(table+objectAttrib, i.list(typeList, i.vector(typeStrings, i.chars("srcrefsIndex")), null, i.symbol("class")))
	constants := i.vector(typeVector, null, srcref, table)
	instructions := i.vector(typeInts, 0, 0, 0, 0)
	body := i.list(typeBytecode, instructions, constants, null)
	pc := i.object(instructions+vectorData+16, 8)
	name := i.list(typeCall, i.symbol("$"), i.list(typeList, i.symbol("list"), i.list(typeList, i.symbol("inner"), null, null), null), null)
	outer := uint64(0)
	for n, function := range []uint64{0, i.symbol("outer"), name} {
		at := i.object(outer, 400)
		if function != 0 {
			i.word(at+contextFlags, functions)
			i.word(at+contextCall, i.list(typeCall, function, null, null))
		}
		i.word(at+contextBody, body)
		i.word(at+contextPC, pc)
		i.word(at+l.handlers, null)
		i.word(at+l.restarts, null)
		i.word(at+l.srcref, []uint64{null, srcref, code}[n])
		outer = at
	}
	i.word(variableContext, outer)
	i.word(variableSrcref, srcref)
	return i.b
}

func read(b []byte) (list []context, err error) {
	m := structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare)
	defer m.Free()
	r := &runtime{context: variableContext, nilValue: variableNil, inBytecode: variableCode, srcref: variableSrcref}
	reader := r.reader(m)
	m.Err()
	reader.place(m.Pointer(r.srcref))
	m.Err()
	return r.contexts(reader)
}

// TestSmall has contexts of each layout read, and a list of them that goes round.
func TestSmall(t *testing.T) {
	for i := range layouts {
		b := small(&layouts[i])
		list, err := read(b)
		if err != nil || len(list) != 3 || list[0].name != "list$inner" || list[0].line != 7 || list[0].file != "a.R" || list[1].name != "outer" || list[1].line != 7 {
			t.Errorf("%d: %+v, %v", i, list, err)
		}
		first := binary.LittleEndian.Uint64(b[variableContext-base:])
		outer := binary.LittleEndian.Uint64(b[first-base:])
		binary.LittleEndian.PutUint64(b[outer-base:], first)
		if list, err := read(b); err == nil {
			t.Errorf("%d: a list that goes round has %d contexts", i, len(list))
		}
	}
}

// FuzzContexts reads contexts and all that they lead to.
func FuzzContexts(f *testing.F) {
	for i := range layouts {
		f.Add(small(&layouts[i]))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 64<<20, func() { read(b) })
	})
}
