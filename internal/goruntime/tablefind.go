package goruntime

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/gopclntab"
)

// maxTables bounds how many places that look like a table are tried.
const maxTables = 16

// finder looks for the table of one image.
type finder struct {
	im     *elfimage.Image
	bias   uint64
	relocs []byte   // see relocations
	read   bool     // relocs were read
	left   uint64   // bytes of data that may still be searched for pointers
	module []uint64 // the struct moduledata of the table, if it is found
}

// errNone is the error for most modules.
var errNone = fmt.Errorf("%w: no function table", ErrNotGo)

func (f *finder) find() (*gopclntab.Table, error) {
	err := errNone
	tried := 0
	for p := range f.stretches() {
		for at := range p.headers(f.im.Order) {
			addr := p.addr + uint64(at)
			t, e := f.open(p.data[at:], addr)
			if e == nil {
				return t, nil
			}
			err = fmt.Errorf("function table of Go at %#x: %w", addr, e)
			if tried++; tried == maxTables {
				return nil, err
			}
		}
	}
	return nil, err
}

var errTextStart = errors.New("what its functions' addresses are relative to is not known: there is no struct moduledata and no symbol runtime.text")

// open opens the table that begins at addr.
func (f *finder) open(data []byte, addr uint64) (*gopclntab.Table, error) {
	h, ok := gopclntab.ReadHeader(data)
	if ok && h.Version < gopclntab.Go118 {
		f.relocate(data, addr) // it is full of addresses
	}
	t, err := gopclntab.Open(data, 0)
	if err != nil {
		return nil, err
	}
	if t.Version < gopclntab.Go118 {
		if lo, hi := t.Bounds(); !f.executable(lo, hi) {
			return nil, fmt.Errorf("its functions, [%#x, %#x), are not in an executable segment", lo, hi)
		}
		f.setFuncData(t, 0)
		return t, nil
	}
	if f.moduleData(t, addr) {
		return t, nil
	}
	return t, f.withoutModuleData(t, h.Text)
}

// withoutModuleData finds the address that functions are relative to if moduledata is not found, or
// differs from every known release's. Inlined calls are then unknown.
func (f *finder) withoutModuleData(t *gopclntab.Table, header uint64) error {
	texts := []uint64{header} // until Go 1.25
	for _, s := range f.im.Lookup("runtime.text", 1) {
		texts = append(texts, s.Addr)
	}
	for _, t.Text = range texts {
		if lo, hi := t.Bounds(); t.Text != 0 && f.executable(lo, hi) {
			return nil
		}
	}
	// The Go linker's section of code begins with Go's code; other linkers' sections do not.
	if s := f.im.ELF().Section(".text"); s != nil {
		t.Text = s.Addr
		if entry, ok := t.Find(f.im.Entry); ok && entry.Lo == f.im.Entry {
			return nil
		}
	}
	return errTextStart
}

// setFuncData gives the table the FUNCDATA at an address, if it is FUNCDATA.
func (f *finder) setFuncData(t *gopclntab.Table, base uint64) bool {
	data := loaded{f.im, base}
	if !t.FuncDataFits(data) {
		return false
	}
	t.FuncData = data
	return true
}

// executable reports whether [lo, hi) is code of the image.
func (f *finder) executable(lo, hi uint64) bool {
	for _, p := range f.im.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && lo < hi && lo >= p.Vaddr && hi-p.Vaddr <= p.Memsz {
			return true
		}
	}
	return false
}

// loaded reads an image's segments at offsets from an address.
type loaded struct {
	im   *elfimage.Image
	base uint64
}

func (l loaded) ReadAt(p []byte, off int64) (n int, err error) {
	if n = l.im.ReadLoaded(l.base+uint64(off), p); n < len(p) {
		err = io.EOF
	}
	return n, err
}
