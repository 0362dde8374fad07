package goruntime

import (
	"bytes"
	"debug/elf"
	"iter"

	"github.com/sfwalk/sfwalk/format/gopclntab"
)

// moduleWords is how many words of a struct moduledata are looked at. The members that
// matter are among the first 42 in all releases.
const moduleWords = 64

// gofuncs are where gofunc was until now, counted from text: since Go 1.20, and before.
var gofuncs = [...]int{18, 16}

// maxPointers bounds how many pointers to a table are tried. Programs have one.
const maxPointers = 64

// moduleData finds the struct moduledata of a table at addr, and takes from it the addresses
// that functions and their FUNCDATA are relative to. The members have moved from release
// to release. They are recognized by their values: minpc and maxpc are the first and the last
// address of the table, text is behind them, and gofunc is the word with which the trees of
// inlined calls make sense.
func (f *finder) moduleData(t *gopclntab.Table, addr uint64) bool {
	first, last := t.Bounds() // from where text is
	tried := 0
	for at := range f.pointers(t, addr) {
		if tried++; tried > maxPointers {
			break
		}
		words, ok := f.words(t, at, addr)
		if !ok {
			continue
		}
		for i := 0; i+3 <= len(words); i++ {
			lo, hi, text := words[i], words[i+1], words[i+2]
			if lo-text != first || hi-text != last || !f.executable(lo, hi) {
				continue
			}
			t.Text, f.module = text, words
			rest := words[i+2:]
			for _, i := range gofuncs {
				if i < len(rest) && f.setFuncData(t, rest[i]) {
					return true
				}
			}
			for _, gofunc := range rest {
				if f.setFuncData(t, gofunc) {
					break
				}
			}
			return true
		}
	}
	return false
}

// words reads a struct moduledata whose first word points to the table at addr. They are
// link-time addresses, where they are addresses.
func (f *finder) words(t *gopclntab.Table, at, addr uint64) (words []uint64, ok bool) {
	data := make([]byte, moduleWords*t.PtrSize)
	data = data[:f.im.ReadLoaded(at, data)]
	f.relocate(data, at)
	for ; len(data) >= t.PtrSize; data = data[t.PtrSize:] {
		if t.PtrSize == 4 {
			words = append(words, uint64(t.ByteOrder.Uint32(data)))
		} else {
			words = append(words, t.ByteOrder.Uint64(data))
		}
	}
	if len(words) == 0 {
		return nil, false
	}
	slid := words[0] - addr // of a process's memory
	for i := range words {
		words[i] -= slid
	}
	return words, slid == 0 || slid == f.bias
}

// pointers yields the addresses of words in the file's data that point to the table
// at addr, the one in Go 1.26's section first.
func (f *finder) pointers(t *gopclntab.Table, addr uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if s := f.im.ELF().Section(".go.module"); s != nil && !yield(s.Addr) {
			return
		}
		for at := range f.relocatedTo(addr) {
			if !yield(at) {
				return
			}
		}
		values := []uint64{addr}
		if f.im.File() == nil && f.bias != 0 {
			values = append(values, addr+f.bias)
		}
		for _, p := range f.im.Progs {
			if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 || p.Filesz == 0 || f.left == 0 {
				continue
			}
			n := min(p.Filesz, f.left) // segments may be the same bytes
			f.left -= n
			data := f.im.Loaded(p.Vaddr, n)
			for _, value := range values {
				var mark []byte
				if t.PtrSize == 4 {
					mark = make([]byte, 4)
					t.ByteOrder.PutUint32(mark, uint32(value))
				} else {
					mark = make([]byte, 8)
					t.ByteOrder.PutUint64(mark, value)
				}
				for at := 0; at < len(data); at++ {
					i := bytes.Index(data[at:], mark)
					if i < 0 {
						break
					}
					if at += i; at%t.PtrSize == 0 && !yield(p.Vaddr+uint64(at)) {
						return
					}
				}
			}
		}
	}
}
