package java

import (
	"sort"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

const (
	mostPCs     = 1 << 20 // places of one compiled method
	mostInlined = 1 << 10 // frames at one place
	scopeBytes  = 6 * longest
)

// compiledFrames returns the frames of Java for which the frame f of a compiled method stands, the
// innermost first. placed reports whether the place in the method is one that the compiler has
// noted.
func (vm *machine) compiledFrames(r *vmstructs.Reader, f *frame.Frame, b *vmstructs.Blob) (list []language.Frame, placed bool) {
	at, ok := r.Pointer(b.At, vm.compiled.method)
	if !ok {
		return nil, false
	}
	m := vm.method(r, at)
	if m == nil {
		return nil, false
	}
	whole := language.Frame{Function: m.function, File: m.file, Kind: "compiled", Place: b.At}
	if m.native {
		whole.Kind, whole.File = "native", ""
		return []language.Frame{whole}, true
	}
	pc, exact := vm.placeOf(r, f, b), f.AddressInBlock() != f.PC()
	scope, found := vm.scopeAt(r, b, pc, exact)
	if !found {
		whole.Guess = !exact
		return []language.Frame{whole}, false
	}
	if list = vm.scopes(r, b, scope); list == nil {
		return []language.Frame{whole}, false
	}
	for i := range list {
		list[i].Guess = !exact
	}
	return list, true
}

// placeOf returns where a frame is in its compiled method. If the method is to be taken apart, the
// frame returns to a handler, and has kept the PC itself.
func (vm *machine) placeOf(r *vmstructs.Reader, f *frame.Frame, b *vmstructs.Blob) uint64 {
	c, pc := &vm.compiled, f.PC()
	for _, h := range c.handlers {
		if h.Offset == 0 {
			continue
		}
		handler, ok := r.Pointer(b.At, h)
		if !c.handlerAt {
			var offset int64
			offset, ok = r.Number(b.At, h)
			handler = b.At + uint64(offset)
		}
		if !ok || handler != pc {
			continue
		}
		cfa, known := f.CFA()
		at, ok := r.Number(b.At, c.originalPC)
		if !known || !ok || b.Frame <= 0 {
			continue
		}
		if before, ok := r.Word(cfa - 8*uint64(b.Frame) + uint64(at)); ok && before >= b.Lo && before <= b.Hi {
			return before
		}
	}
	return pc
}

// scopeAt returns where the scope of a place in a compiled method begins, in the method's scopes.
// exact says that the place must be one that the compiler has noted; else the next one is taken, as
// the compiler has noted no more than calls and the like.
func (vm *machine) scopeAt(r *vmstructs.Reader, b *vmstructs.Blob, pc uint64, exact bool) (scope uint32, ok bool) {
	c := &vm.compiled
	from, ok := vm.immutable(r, b)
	first, known := r.Number(b.At, c.pcs)
	end, bounded := r.Number(b.At, c.pcsEnd)
	if !ok || !known || !bounded || first < 0 || end < first {
		return 0, false
	}
	n := uint64(end-first) / c.pcDesc
	if n == 0 || n > mostPCs {
		return 0, false
	}
	from += uint64(first)
	want := int64(pc - b.Lo)
	i := uint64(sort.Search(int(n), func(i int) bool {
		offset, ok := r.Number(from+uint64(i)*c.pcDesc, c.pcOffset)
		return !ok || offset >= want
	}))
	if i >= n {
		return 0, false
	}
	offset, ok := r.Number(from+i*c.pcDesc, c.pcOffset)
	at, known := r.Number(from+i*c.pcDesc, c.pcScope)
	// The last place is no place: it is beyond all code.
	if !ok || !known || at <= 0 || exact && offset != want || offset > int64(b.Hi-b.Lo) {
		return 0, false
	}
	return uint32(at), true
}

// immutable returns the address from which the offsets of a compiled method's debug information
// count.
func (vm *machine) immutable(r *vmstructs.Reader, b *vmstructs.Blob) (uint64, bool) {
	if vm.compiled.immutable.Offset == 0 {
		return b.At, true
	}
	at, ok := r.Pointer(b.At, vm.compiled.immutable)
	return at, ok && at != 0
}

// scopes returns the frames of a scope and of the scopes that it is inlined in; nil if they cannot
// be read.
func (vm *machine) scopes(r *vmstructs.Reader, b *vmstructs.Blob, scope uint32) (list []language.Frame) {
	c := &vm.compiled
	from, ok := r.Pointer(b.At, c.scopes)
	if !c.scopesAt {
		if from, ok = vm.immutable(r, b); ok {
			var offset int64
			offset, ok = r.Number(b.At, c.scopes)
			from += uint64(offset)
		}
	}
	metadata, known := vm.metadata(r, b)
	if !ok || !known {
		return nil
	}
	var room [scopeBytes]byte
	for ; scope != 0; list[len(list)-1].Kind = "inlined" {
		k, _ := r.Memory.ReadMemory(from+uint64(scope), room[:])
		n := numbers{bytes: room[:k], least: c.least}
		outer, index, bci := n.next(), n.next(), int32(n.next())-1
		if n.short || index == 0 || len(list) == mostInlined {
			return nil
		}
		at, ok := r.Word(metadata + 8*uint64(index-1))
		if !ok {
			return nil
		}
		m := vm.method(r, at)
		// A scope comes behind the one that it is inlined in.
		if m == nil || outer >= scope || bci < -1 || int64(bci) >= int64(m.size) {
			return nil
		}
		list = append(list, language.Frame{Function: m.function, File: m.file, Line: vm.line(m, bci), Kind: "compiled", Place: b.At})
		if scope = outer; scope == 0 {
			return list
		}
	}
	return list
}

// metadata returns the address of the list of methods and classes to which a compiled method's
// debug information refers.
func (vm *machine) metadata(r *vmstructs.Reader, b *vmstructs.Blob) (at uint64, ok bool) {
	c := &vm.compiled
	at = b.At
	if c.mutable.Offset != 0 {
		if at, ok = r.Pointer(b.At, c.mutable); !ok {
			return 0, false
		}
	} else if c.data.Size != 0 {
		offset, ok := r.Number(b.At, c.data)
		if !ok {
			return 0, false
		}
		at += uint64(offset)
	}
	offset, ok := r.Number(b.At, c.metadata)
	return at + uint64(offset), ok
}
