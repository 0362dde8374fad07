package lastwords

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
)

// process is a process with one module, which has all addresses, and one memory.
type process struct {
	target.Target
	arch    *arch.Arch
	memory  target.Memory
	modules *target.Modules
}

func (p *process) Arch() *arch.Arch         { return p.arch }
func (p *process) Memory() target.Memory    { return p.memory }
func (p *process) Modules() *target.Modules { return p.modules }

func newProcess(t testing.TB, a *arch.Arch, data []byte) *process {
	t.Helper()
	file := elftest.Program(a.Class(), a.Order.(binary.AppendByteOrder), a.Machine, elf.ET_EXEC).Bytes()
	m := target.NewRegistered("/made", []target.Mapping{{Lo: base, Hi: base + 1<<20}}, func() (*elfimage.Image, error) {
		return elfimage.Open(bytes.NewReader(file), int64(len(file)))
	})
	return &process{arch: a, memory: memtest.Flat{Lo: base, Data: data}, modules: target.Only(m)}
}

// Where an exception that is made is: its stack at base, on which a word leads to it.
const (
	headerAt = base + 0x100 // its _Unwind_Exception
	typeAt   = base + 0x180
	nameAt   = base + 0x1a0
)

// thrown is the memory of a thread that has thrown an int, which is 42.
func thrown(a *arch.Arch, class uint64) []byte {
	data := make([]byte, 0x200)
	layout := exceptions64
	if a.PtrSize == 4 {
		layout = exceptions32
	}
	a.PutWord(data[0x20:], headerAt)
	at := func(addr uint64) []byte { return data[addr-base:] }
	a.Order.PutUint64(at(headerAt), class)
	a.PutWord(at(headerAt-layout.typ), typeAt)
	a.Order.PutUint32(at(headerAt-layout.handlers), 1)
	if class == clangClass {
		a.PutWord(at(headerAt-layout.typ-8), 1)
	} else {
		a.Order.PutUint32(at(headerAt-layout.typ-uint64(a.StackAlign)), 1)
	}
	a.Order.PutUint32(at(headerAt+unwindSize), 42)
	a.PutWord(at(typeAt+uint64(a.PtrSize)), nameAt)
	copy(at(nameAt), "i")
	return data
}

// throwerOf is a thread that dies in __cxa_throw.
func throwerOf(t testing.TB, a *arch.Arch, data []byte) *Thread {
	p := newProcess(t, a, data)
	var r arch.Registers
	r.Set(a.SP, base)
	return &Thread{Target: p, Memory: p.memory, Frames: []Frame{
		{Functions: []string{"abort"}, Registers: &r, CFA: base + 0x40}, {Functions: []string{"std::terminate()"}, Registers: &r, CFA: base + 0x50},
		{Functions: []string{"__cxa_throw"}, Registers: &r, CFA: base + 0x60}, {Functions: []string{"main"}, Registers: &r, CFA: base + 0x70},
	}}
}

// An exception is believed if it is being handled, is in use, and has a type.
func TestException(t *testing.T) {
	for _, a := range arches {
		if a.ExceptionTables {
			continue
		}
		data := thrown(a, gnuClass)
		const want = "terminate called after throwing an instance of 'int'\n  value:  42"
		if got := Of(throwerOf(t, a, data)); len(got) != 1 || got[0].Text != want {
			t.Errorf("%s: %q", a.Name, got)
		}
		for what, at := range map[string]uint64{
			"another class": headerAt + 3, "no handler": headerAt - exceptions64.handlers, "no user": headerAt - exceptions64.typ - uint64(a.StackAlign), "no type": headerAt - exceptions64.typ, "no name": nameAt,
		} {
			bad := bytes.Clone(data)
			clear(bad[at-base:][:8])
			if got := Of(throwerOf(t, a, bad)); len(got) > 0 {
				t.Errorf("%s: %s: %q", a.Name, what, got)
			}
		}
		if got := Of(throwerOf(t, a, thrown(a, clangClass))); len(got) != 1 || got[0].Text != "uncaught exception of type int\n  value:  42" {
			t.Errorf("%s: libc++abi: %q", a.Name, got)
		}
	}
}

func FuzzException(f *testing.F) {
	for i, a := range arches {
		f.Add(uint8(i), thrown(a, gnuClass))
		f.Add(uint8(i), thrown(a, clangClass))
	}
	threads := make([]*Thread, len(arches))
	for i, a := range arches {
		threads[i] = throwerOf(f, a, nil)
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		th := *threads[int(which)%len(arches)]
		th.Memory = memtest.Flat{Lo: base, Data: data}
		bounds.Hold(t, 1<<20, func() {
			for _, w := range Of(&th) {
				if w.Text == "" || len(w.Text) > 4*maxText {
					t.Errorf("%d bytes", len(w.Text))
				}
			}
		})
	})
}
