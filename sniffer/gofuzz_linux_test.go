package sniffer_test

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer/internal/gostack"
	"github.com/sfwalk/sfwalk/sniffer/internal/sigtramp"
	"github.com/sfwalk/sfwalk/target"
)

// hostileGo is a thread of a Go program with arbitrary memory, also in structs g and m.
type hostileGo struct {
	hostile
	threads [3]uint64 // R14, RBP and the thread's own storage
}

func (h *hostileGo) Memory() target.Memory { return h }

func (h *hostileGo) Registers(r *arch.Registers) error {
	r.Set(amd64.RIP, h.pc)
	r.Set(amd64.RSP, hostileStack)
	r.Set(amd64.R14, h.threads[0])
	r.Set(amd64.RBP, h.threads[1])
	r.Set(amd64.FSBase, h.threads[2])
	return nil
}

// hostileWord returns the meaning of a word of hostile memory: the word itself, an address in the
// memory, or an address in a function that changes stacks, or next to such a function.
func hostileWord(w uint64, functions []gopclntab.Func) uint64 {
	switch w >> 62 {
	case 1:
		return hostileStack + w&0x3f8
	case 2, 3:
		f := functions[w%uint64(len(functions))]
		return f.Lo + w>>8%(f.Hi-f.Lo)
	}
	return w
}

// FuzzGoUnwind unwinds any stack of a Go program, with arbitrary structs g and m. The stack
// must end with a reason, and both walkers must agree.
func FuzzGoUnwind(f *testing.F) {
	program := gdbtest.Build(f, "gosteps", "CGO_ENABLED=1", "CGO_CFLAGS=-O2 -fomit-frame-pointer")
	file, err := os.Open(program)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		f.Fatal(err)
	}
	image, err := elfimage.Open(file, st.Size())
	if err != nil {
		f.Fatal(err)
	}
	var maps []target.Mapping
	for _, p := range image.Progs {
		if p.Type == elf.PT_LOAD {
			maps = append(maps, target.Mapping{Lo: p.Vaddr &^ 0xfff, Hi: (p.Vaddr + p.Memsz + 0xfff) &^ 0xfff, Offset: p.Off &^ 0xfff, Exec: p.Flags&elf.PF_X != 0})
		}
	}
	module := target.NewModule(program, maps, func() (*elfimage.Image, error) { return image, nil })
	code, _, err := goruntime.Table(module)
	if err != nil {
		f.Fatal(err)
	}
	byName := map[string]gopclntab.Func{}
	for i := range code.Len() {
		if fn, ok := code.Func(i); ok {
			byName[fn.Name()] = fn
		}
	}
	var functions []gopclntab.Func
	for _, name := range []string{
		"runtime.systemstack", "runtime.asmcgocall", "runtime.cgocallback", "runtime.morestack", "runtime.mcall", "runtime.mstart",
		"runtime.sigpanic", "runtime.sigtramp", "runtime.asyncPreempt", "runtime.nanotime1", "crosscall2", "gogo", "runtime.gogo",
		"runtime.newstack", "runtime.schedule", "runtime.cgocall", "main.cgo", "runtime.rt0_go",
	} {
		fn, ok := byName[name]
		if !ok {
			f.Fatalf("there is no %s", name)
		}
		functions = append(functions, fn)
	}
	// These are the words of a stack that is deep in calls that change stacks, and of a g that is
	// its own m's curg.
	var chain []byte
	for i := range uint64(64) {
		w := 2<<62 | i%5 | i*17<<8
		if i%3 != 0 {
			w = 1<<62 | i*8%0x400
		}
		chain = binary.LittleEndian.AppendUint64(chain, w)
	}
	for i := range uint64(5) {
		f.Add(chain, 2<<62|i|60<<8, uint64(1<<62|64))
		f.Add(chain[:8*i], 3<<62|i|80<<8, uint64(0))
	}
	modules := target.NewModules([]*target.Module{module}, nil)
	// The sniffers that read the code of other functions take too long.
	u := newUnwinding(frame.NewTable(amd64.Arch, append([]frame.Sniffer{&sigtramp.Sniffer{}}, gostack.Sniffers()...)...))
	f.Fuzz(func(t *testing.T, words []byte, pc, g uint64) {
		h := &hostileGo{hostile: hostile{image: image, modules: modules, pc: hostileWord(pc|2<<62, functions)}}
		for ; len(words) >= 8; words = words[8:] {
			h.stack = binary.LittleEndian.AppendUint64(h.stack, hostileWord(binary.LittleEndian.Uint64(words), functions))
		}
		h.threads = [3]uint64{hostileWord(g, functions), hostileWord(g<<8, functions), hostileWord(g|1<<62, functions)}
		bounds.Hold(t, 8<<20, func() { u.walk(t, h, true) })
	})
}
