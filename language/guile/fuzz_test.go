package guile

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

const (
	base    = 0x10000
	machine = base + 0x3000 // of the virtual machine
	stack   = base + 0x3800 // its top
)

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// small returns memory with code of one procedure, which a frame of the virtual machine's stack
// runs, and which another frame waits in.
func small() []byte {
	b := make([]byte, 0x4000)
	order := binary.LittleEndian
	word := func(at, v uint64) { order.PutUint64(b[at-base:], v) }
	const strings, symbols, lines, sections = 0x800, 0x900, 0xa00, 0xc00
	copy(b, "\x7fELF\x02\x01\x01")
	word(base+40, sections)
	order.PutUint16(b[58:], 64)
	order.PutUint16(b[60:], 5)
	order.PutUint16(b[62:], 1)
	copy(b[strings:], "\x00.rtl-text\x00.symtab\x00.debug_line\x00work\x00")
	for i, s := range [][5]uint64{1: {0, 0, strings, 0x100, 0}, {1, 0x100, 0x100, 0x200, 0}, {11, 0, symbols, 24, 1}, {19, 0, lines, 0x100, 0}} {
		at := uint64(base + sections + 64*i)
		order.PutUint32(b[at-base:], uint32(s[0]))
		word(at+16, s[1])
		word(at+24, s[2])
		word(at+32, s[3])
		order.PutUint32(b[at+40-base:], uint32(s[4]))
	}
	order.PutUint32(b[symbols:], 31)
	b[symbols+4] = 2
	word(base+symbols+16, 0x200)
	copy(b[lines:], "\x2d\x00\x00\x00\x02\x00\x19\x00\x00\x00\x04\x01\xfc\x0f\x0a\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00a.scm\x00\x00\x00\x00\x00"+
		"\x00\x09\x02\x00\x01\x00\x00\x00\x00\x00\x00\x03\x06\x01")
	word(machine+machineIP, base+0x180)
	word(machine+machineTop, stack)
	word(machine+machineBottom, stack-0x400)
	word(machine+machineSize, 0x80)
	fp := uint64(stack - 0x100)
	word(machine+machineFP, fp)
	word(machine+machineSP, fp-0x20)
	word(fp+frameReturn, base+0x190)
	word(fp+frameLink, 4)
	word(fp+32+frameLink, 28)
	return b
}

func read(b []byte) (frames []language.Frame, err error) {
	m := structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare)
	defer m.Free()
	r := &runtime{left: budget{mostTexts, mostEntries}}
	r.check(m, machine, 0, ^uint64(0))
	calls, err := calls(m, machine, func(uint64) bool { return false })
	for i, c := range calls {
		f, ok := language.Frame{}, false
		if i == 0 {
			f, ok = r.innermost(m, &language.Stack{Arch: amd64.Arch}, nil, calls)
		} else {
			f, ok = r.frame(m, c, false)
		}
		if ok {
			frames = append(frames, f)
		}
		for _, im := range r.images {
			for _, n := range im.names {
				n.machineCode(m)
			}
		}
	}
	return frames, err
}

// TestSmall has frames read.
func TestSmall(t *testing.T) {
	frames, err := read(small())
	if err != nil || len(frames) != 2 {
		t.Fatalf("%+v, %v", frames, err)
	}
	for i, f := range frames {
		if f.Function != "work" || f.File != "a.scm" || f.Line != 7 || f.Guess != (i == 0) {
			t.Errorf("%d: %+v", i, f)
		}
	}
}

// FuzzFrames reads frames, and the code that they lead to.
func FuzzFrames(f *testing.F) {
	f.Add(small())
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 256<<20, func() { read(b) })
	})
}
