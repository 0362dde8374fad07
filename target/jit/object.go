package jit

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"slices"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds on objects. The process tells their sizes, which are not trusted.
const (
	maxHeaders = 48 << 20 // headers of all objects and what is made of them, bytes
	perCode    = 192      // what is made of the header of a section or segment of code
	maxObject  = 64 << 20 // one object
	maxBytes   = 96 << 20 // all objects that are opened
	perObject  = 4 << 10  // what an open object takes beside its bytes
)

var (
	errNotELF   = errors.New("not an ELF image")
	errOther    = errors.New("an ELF image for another processor")
	errTooLarge = errors.New("too large")
	errBeyond   = errors.New("its headers lie beyond its end")
	errChanged  = errors.New("the process has taken the object away since it was listed")
)

// object describes the ELF image of size bytes at addr by its headers. It returns nil if the image
// describes no code.
func (r *reader) object(addr, size uint64) (*target.Module, error) {
	if size < layoutOf(r.arch).ehdr || addr+size < addr {
		return nil, fmt.Errorf("%w of %d bits", errNotELF, 8*r.arch.PtrSize)
	}
	d := described{addr: addr, size: size}
	h, err := r.header(&d)
	if err != nil {
		return nil, err
	}
	code, end, err := r.code(&h, &d)
	if err != nil || len(code) == 0 {
		return nil, err
	}
	if d.size = min(size, end); d.size > maxObject {
		return nil, errTooLarge
	}
	path := fmt.Sprintf("[jit %#x]", addr)
	m := target.NewRegistered(path, code, func() (*elfimage.Image, error) {
		im, err := r.open(&d, code)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return im, nil
	})
	if r.same != nil {
		m = r.same(&d, m)
	}
	return m, nil
}

// described is an object whose headers were read.
type described struct {
	addr, size uint64
	headers    []target.Copy
}

// header has the fields of an ELF header that are needed.
type header struct {
	phoff, shoff uint64
	phnum, shnum uint64
}

func (r *reader) header(d *described) (h header, err error) {
	l := layoutOf(r.arch)
	b, err := r.headers(d, 0, l.ehdr)
	if err != nil {
		return h, err
	}
	o := r.arch.Order
	data := elf.ELFDATA2LSB
	if o.Uint16([]byte{0, 1}) == 1 {
		data = elf.ELFDATA2MSB
	}
	switch {
	case string(b[:4]) != elf.ELFMAG || elf.Class(b[elf.EI_CLASS]) != r.arch.Class():
		return h, fmt.Errorf("%w of %d bits", errNotELF, 8*r.arch.PtrSize)
	case elf.Data(b[elf.EI_DATA]) != data || elf.Machine(o.Uint16(b[18:])) != r.arch.Machine:
		return h, errOther
	}
	h = header{phoff: r.arch.Word(b[l.phoff:]), shoff: r.arch.Word(b[l.shoff:])}
	sizes := b[l.phentsize:]
	if uint64(o.Uint16(sizes)) == l.phdr {
		h.phnum = uint64(o.Uint16(sizes[2:]))
	}
	if uint64(o.Uint16(sizes[4:])) == l.shdr {
		h.shnum = uint64(o.Uint16(sizes[6:]))
	}
	return h, nil
}

// headers reads some headers of an object.
func (r *reader) headers(d *described, off, size uint64) ([]byte, error) {
	if size > r.headersLeft {
		return nil, errTooLarge
	}
	r.headersLeft -= size
	b, err := r.copies.read(d.addr+off, size)
	d.headers = append(d.headers, target.Copy{Addr: off, Data: b})
	return b, err
}

// code returns where the object's code is: the sections of code that have an address, or, if there
// are none, the segments. end is the highest offset in the object that its headers refer to.
func (r *reader) code(h *header, d *described) (list []target.Mapping, end uint64, err error) {
	o, l := r.arch.Order, layoutOf(r.arch)
	b, err := r.table(d, h.shoff, h.shnum*l.shdr)
	if err != nil {
		return nil, 0, err
	}
	end = max(l.ehdr, h.shoff+uint64(len(b)))
	for ; uint64(len(b)) >= l.shdr; b = b[l.shdr:] {
		s := section{b[:l.shdr], r.arch}
		const flags = elf.SHF_ALLOC | elf.SHF_EXECINSTR
		if s.flags()&flags == flags {
			list = r.addCode(list, s.addr(), s.size())
		}
		if s.typ() != elf.SHT_NOBITS {
			end = max(end, s.off()+s.size())
		}
	}
	segments := len(list) == 0
	if b, err = r.table(d, h.phoff, h.phnum*l.phdr); err != nil {
		return nil, 0, err
	}
	end = max(end, h.phoff+uint64(len(b)))
	for ; uint64(len(b)) >= l.phdr; b = b[l.phdr:] {
		u := func(at uint64) uint64 { return r.arch.Word(b[at:]) }
		if segments && elf.ProgType(o.Uint32(b)) == elf.PT_LOAD && elf.ProgFlag(o.Uint32(b[l.flags:]))&elf.PF_X != 0 {
			list = r.addCode(list, u(l.vaddr), u(l.memsz))
		}
		end = max(end, u(l.offset)+u(l.filesz))
	}
	slices.SortFunc(list, func(a, b target.Mapping) int { return cmp.Compare(a.Lo, b.Lo) })
	if r.headersLeft == 0 {
		return nil, 0, errTooLarge
	}
	return slices.Clip(list), end, nil
}

// table reads a table of headers, which must lie within the object.
func (r *reader) table(d *described, off, length uint64) ([]byte, error) {
	if length == 0 || off == 0 {
		return nil, nil
	}
	if off > d.size || length > d.size-off {
		return nil, errBeyond
	}
	return r.headers(d, off, length)
}

// addCode adds a range of code to list. Code at address 0 was not placed.
func (r *reader) addCode(list []target.Mapping, addr, size uint64) []target.Mapping {
	if addr != 0 && addr+size > addr && r.headersLeft > 0 {
		r.headersLeft -= min(r.headersLeft, perCode)
		list = append(list, target.Mapping{Lo: addr, Hi: addr + size, Exec: true})
	}
	return list
}

// open reads an object, as far as it is readable, and makes an image that has the target's
// addresses.
func (r *reader) open(d *described, code []target.Mapping) (*elfimage.Image, error) {
	relocatable := false // it is changed, and a snapshot wants the bytes as they were read
	if h := d.headers[0]; len(h.Data) > 17 {
		relocatable = elf.Type(r.arch.Order.Uint16(h.Data[16:])) == elf.ET_REL
	}
	size := d.size
	if relocatable {
		size *= 2
	}
	if !r.spend(size + perObject) {
		return nil, errTooLarge
	}
	data, err := r.copies.read(d.addr, d.size)
	for _, h := range d.headers {
		if end := h.Addr + uint64(len(h.Data)); end > uint64(len(data)) {
			return nil, err
		} else if !bytes.Equal(data[h.Addr:end], h.Data) {
			return nil, errChanged
		}
	}
	if relocatable {
		data = slices.Clone(data)
		relocate(data, r.arch, code[0].Lo)
	}
	im, err := elfimage.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	// Relocatable files have no segments, so the code becomes some.
	for _, c := range code {
		im.Progs = append(im.Progs, elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, Vaddr: c.Lo, Memsz: c.Hi - c.Lo})
	}
	return im, nil
}

// spend takes size from the bytes that may still be read of objects, and reports whether that many
// were left.
func (r *reader) spend(size uint64) bool {
	r.copies.mu.Lock()
	defer r.copies.mu.Unlock()
	if size > r.bytesLeft {
		return false
	}
	r.bytesLeft -= size
	return true
}
