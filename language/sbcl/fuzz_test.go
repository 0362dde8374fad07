package sbcl

import (
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/sbcl"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const base = 0x10000

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// kinds are the forms that debug information has.
const (
	chained = iota
	plain
	compressed
	forms
)

// small returns memory with a code object, whose function is called (A::F "x"), and debug
// information of a form. Its code begins at base+0x80.
func small(form int) []byte {
	const code, info, function, symbol, name, home, homeName, text, list, all, packed = base + 0x40, base + 0x100, base + 0x140, base + 0x1a0, base + 0x1e0,
		base + 0x200, base + 0x240, base + 0x260, base + 0x280, base + 0x2c0, base + 0x300
	b := make([]byte, 0x400)
	word := func(at, v uint64) { binary.LittleEndian.PutUint64(b[at-base:], v) }
	str := func(at uint64, s string) {
		word(at, baseWidetag)
		word(at+8, uint64(2*len(s)))
		copy(b[at-base+16:], s)
	}
	word(code, 0x35|16<<32)
	word(code+8, 0x40)
	str(name, "F")
	str(homeName, "A")
	str(text, "x")
	word(base, all|otherTag) // the variable that leads to the packages
	word(all, vectorWidetag)
	word(all+8, 2*2)
	word(all+24, home|sbcl.InstanceTag)
	word(home, 0x39)
	word(home+8, homeName|otherTag)
	word(list, symbol|otherTag)
	word(list+8, (list+16)|listTag)
	word(list+16, text|otherTag)
	word(list+24, (list+32)|listTag)
	word(list+32, (list+32)|listTag)
	word(list+40, (list+32)|listTag)
	word(info, 0x39)
	if form == chained {
		word(code+16, info|sbcl.InstanceTag)
		word(info+infoFirst, function|sbcl.InstanceTag)
		word(function, 0x39)
		word(function+functionName, list|listTag)
		word(symbol, symbolWidetag)
		word(symbol+symbolName, name|otherTag|1<<48)
		return b
	}
	word(code+24, info|sbcl.InstanceTag)
	word(info+infoFirst+8, packed|otherTag)
	word(info+infoFirst+16, list|listTag)
	word(symbol, symbolWidetag|1<<8)
	word(symbol+symbolName, name|otherTag)
	functions := []byte{0, 0, 0, 0, 0, 0x20}
	word(packed, bytesWidetag)
	if form == compressed {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			panic(err)
		}
		functions = w.EncodeAll(functions, []byte{byte(len(functions))})
		word(packed, packedWidetag)
	}
	word(packed+8, uint64(2*len(functions)))
	copy(b[packed-base+16:], functions)
	return b
}

func read(b []byte, pc uint16) (language.Frame, error) {
	vm := sbcl.ForTests(base, base+0x10000, base, amd64.Arch)
	r := &reader{Reader: structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare), vm: vm, left: mostWork}
	defer r.Free()
	f := r.frameAt(base + uint64(pc))
	return f, r.Err()
}

// TestSmall has the function of each form named.
func TestSmall(t *testing.T) {
	for form := range forms {
		if f, err := read(small(form), 0x90); err != nil || f.Function != `(A::F "x")` {
			t.Errorf("%d: %+v, %v", form, f, err)
		}
	}
}

// FuzzNames names functions by debug information of all forms.
func FuzzNames(f *testing.F) {
	for form := range forms {
		f.Add(small(form), uint16(0x90))
	}
	f.Fuzz(func(t *testing.T, b []byte, pc uint16) {
		bounds.Hold(t, 256<<20, func() { read(b, pc) })
	})
}
