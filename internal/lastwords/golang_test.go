package lastwords

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
)

// Where the constants of a made program are, and its stack: a struct g at base, with the struct
// _panic behind it.
const (
	rodataAt  = 0x400000
	stackSize = 0x1000
	panicAt   = base + 0x200
	textAt    = base + 0x800
	structM   = 48
)

// madeGo is a Go program that has one type, string.
func madeGo(t testing.TB, types []byte, stack []byte) *goProgram {
	t.Helper()
	file := (&elftest.File{Class: elf.ELFCLASS64, Order: binary.LittleEndian, Machine: elf.EM_X86_64, Type: elf.ET_EXEC,
		Sections: []elftest.Section{{Name: ".rodata", Flags: elf.SHF_ALLOC, Addr: rodataAt, Data: types}}}).Bytes()
	im, err := elfimage.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return &goProgram{
		Program: &goruntime.Program{Image: im}, memory: newMemory(memtest.Flat{Lo: base, Data: stack}, amd64.Arch),
		data: []uint64{7, rodataAt, rodataAt + uint64(len(types))},
	}
}

// stringType is the constants of a program: the type string, and its name.
func stringType() []byte {
	data := make([]byte, 64)
	data[goKind] = goString
	binary.LittleEndian.PutUint32(data[goStr:], goTypeSize)
	return append(data[:goTypeSize], "\x00\x06string and more\x00\x00\x00"...)
}

// goStack is memory with a struct g and a struct _panic whose value is the string "text".
func goStack(l panicLayout) []byte {
	data := make([]byte, stackSize)
	put := func(at, v uint64) { binary.LittleEndian.PutUint64(data[at:], v) }
	put(goruntime.StackLo, base)
	put(goruntime.StackHi, base+stackSize)
	put(structM-16, panicAt)
	put(panicAt-base+l.arg, rodataAt)
	put(panicAt-base+l.arg+8, textAt)
	if l.size > 60 && l.arg > 0 {
		put(panicAt-base+48, panicAt) // an address on the stack
	}
	put(textAt-base, textAt+16)
	put(textAt-base+8, 4)
	copy(data[textAt-base+16:], "text")
	return data
}

// The struct _panic of each release is read; a value without a type, or with flags that are none,
// is not.
func TestPanics(t *testing.T) {
	for _, l := range []panicLayout{panicGo118, panicGo122, panicGo126} {
		data := goStack(l)
		text, ok := madeGo(t, stringType(), data).panics(base, structM)
		if !ok || text != "panic: text" {
			t.Errorf("%+v: %q, %v", l, text, ok)
		}
		data[panicAt-base+int(l.recovered)] = 1
		if text, ok := madeGo(t, stringType(), data).panics(base, structM); ok {
			t.Errorf("%+v: recovered, and %q", l, text)
		}
		data[panicAt-base+int(l.recovered)] = 2
		if text, ok := madeGo(t, stringType(), data).panics(base, structM); ok {
			t.Errorf("%+v: a flag is 2, and %q", l, text)
		}
		data = goStack(l)
		types := stringType()
		types[goStr] = 0
		if text, ok := madeGo(t, types, data).panics(base, structM); ok {
			t.Errorf("%+v: the type has no name, and %q", l, text)
		}
	}
}

func FuzzPanics(f *testing.F) {
	for _, l := range []panicLayout{panicGo118, panicGo122, panicGo126} {
		f.Add(stringType(), goStack(l)[:textAt-base+32])
	}
	f.Fuzz(func(t *testing.T, types, stack []byte) {
		p := madeGo(t, types[:min(len(types), 4096)], stack)
		bounds.Hold(t, 256<<10, func() {
			if text, ok := p.panics(base, structM); ok && (text == "" || len(text) > 2*maxPanics*maxText) {
				t.Errorf("%d bytes", len(text))
			}
			p.version()
		})
	})
}
