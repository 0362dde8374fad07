package java

import (
	"sort"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

const (
	mostPCs  = 1 << 20 // places of one compiled method
	codeRead = 2 << 10 // bytes of code that are read on either side of an address
)

// places are the places in a compiled method that the compiler has noted, in the order of the code:
// where calls return to, where the method may be stopped, and where it may fail. The first and the
// last are none.
type places struct {
	*compiledLayout
	r        *vmstructs.Reader
	from, n  uint64 // address, count
	lo, size uint64 // of the method's code
}

// placesOf returns the places of a compiled method; ok is false if they cannot be read.
func (vm *machine) placesOf(r *vmstructs.Reader, b *vmstructs.Blob) (p places, ok bool) {
	c := &vm.compiled
	from, ok := vm.immutable(r, b)
	first, known := r.Number(b.At, c.pcs)
	end, bounded := r.Number(b.At, c.pcsEnd)
	if !ok || !known || !bounded || first < 0 || end < first {
		return p, false
	}
	n := uint64(end-first) / c.pcDesc
	return places{c, r, from + uint64(first), n, b.Lo, b.Hi - b.Lo}, n > 0 && n <= mostPCs
}

// behind returns the index of the first place at or behind an address.
func (p *places) behind(pc uint64) uint64 {
	return uint64(sort.Search(int(p.n), func(i int) bool {
		offset, ok := p.r.Number(p.from+uint64(i)*p.pcDesc, p.pcOffset)
		return !ok || offset >= int64(pc-p.lo)
	}))
}

// noted is what the compiler has noted of a place. It has offsets in the method's scopes.
type noted struct {
	pc      uint64
	scope   uint32
	objects uint32 // that were taken apart there; 0 if there are none
}

// place returns a place; ok is false if it is none.
func (p *places) place(i uint64) (in noted, ok bool) {
	if i >= p.n {
		return noted{}, false
	}
	offset, ok := p.r.Number(p.from+i*p.pcDesc, p.pcOffset)
	at, known := p.r.Number(p.from+i*p.pcDesc, p.pcScope)
	if !ok || !known || at <= 0 || offset < 0 || uint64(offset) > p.size {
		return noted{}, false
	}
	in = noted{pc: p.lo + uint64(offset), scope: uint32(at)}
	if p.pcObjects.Size > 0 {
		apart, _ := p.r.Number(p.from+i*p.pcDesc, p.pcObjects)
		in.objects = uint32(max(apart, 0))
	}
	return in, true
}

// notedAt returns the place at an address of a compiled method, exactly, or the one to which the
// code leads from there. What calls code of the machine's that cannot stop the thread is no place.
func (vm *machine) notedAt(r *vmstructs.Reader, a *arch.Arch, b *vmstructs.Blob, pc uint64) (in noted, exactly, ok bool) {
	p, ok := vm.placesOf(r, b)
	if !ok || pc-p.lo > p.size {
		return noted{}, false, false
	}
	if in, ok = p.place(p.behind(pc)); ok && in.pc == pc {
		return in, true, true
	}
	in, ok = p.near(a, pc)
	return in, false, ok
}

// near returns the place to which the code leads from an address. If it leads to none, as from
// behind the last one before a return, near takes the place before, else the one behind.
func (p *places) near(a *arch.Arch, pc uint64) (in noted, ok bool) {
	first := p.behind(pc)
	if a.GoesOn != nil {
		start := max(p.lo, pc-min(pc, codeRead))
		code := make([]byte, min(pc+codeRead, p.lo+p.size)-start)
		n, _ := p.r.Memory.ReadMemory(start, code)
		next, before := first, pc
		a.GoesOn(code[:n], start, pc, func(on uint64) bool {
			if in, ok = p.place(next); on < before || on > in.pc {
				next = p.behind(on)
				in, ok = p.place(next)
			}
			before, ok = on, ok && in.pc == on
			return !ok
		})
	}
	for _, i := range [...]uint64{first - 1, first} {
		if !ok {
			in, ok = p.place(i)
		}
	}
	return in, ok
}
