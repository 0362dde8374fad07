package java

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

const (
	mostInlined = 1 << 10 // frames at one place
	scopeBytes  = 6 * longest
)

// compiledFrames returns the frames of Java for which the frame f of a compiled method stands, the
// innermost first. placed reports whether the place in the method is one that the compiler has
// noted. What else is wanted of the frames is read with of.
func (vm *machine) compiledFrames(r *vmstructs.Reader, a *arch.Arch, f *frame.Frame, b *vmstructs.Blob, of *contents) (list []language.Frame, placed bool) {
	pc, exact := f.PC(), f.AddressInBlock() != f.PC()
	if cfa, ok := f.CFA(); ok && exact && b.Frame > 0 {
		pc = vm.original(r, b, pc, cfa-8*uint64(b.Frame))
	}
	list, at, placed := vm.compiledAt(r, a, b, pc)
	if placed && exact {
		list = vm.compiledContents(of, a, f, b, at, list)
	}
	return list, placed
}

// compiledAt returns the frames of a compiled method at pc, and what the compiler has
// noted there. Others may have the same frames.
func (vm *machine) compiledAt(r *vmstructs.Reader, a *arch.Arch, b *vmstructs.Blob, pc uint64) (list []language.Frame, in place, placed bool) {
	key, known := vm.compilation(r, b, pc)
	if known {
		if x, ok := vm.decoded.find(key); ok {
			return x.frames, x.in, x.placed
		}
	}
	list, in, placed = vm.decode(r, a, b, key.method, pc)
	if known && (placed || len(in.scopes) > 0) {
		vm.decoded.keep(key, decoded{list, in, placed})
	}
	return list, in, placed
}

// decode is compiledAt without what was decoded before.
func (vm *machine) decode(r *vmstructs.Reader, a *arch.Arch, b *vmstructs.Blob, method, pc uint64) (list []language.Frame, in place, placed bool) {
	m := vm.method(r, method)
	if m == nil {
		return nil, in, false
	}
	whole := language.Frame{Function: m.function, File: m.file, Kind: "compiled", Place: b.At}
	if m.native {
		whole.Kind, whole.File = "native", ""
		return []language.Frame{whole}, in, true
	}
	at, placed, found := vm.notedAt(r, a, b, pc)
	if !found {
		whole.Guess = true
		return []language.Frame{whole}, in, false
	}
	from, scopes := vm.scopes(r, b, at.scope)
	if scopes == nil {
		return []language.Frame{whole}, in, false
	}
	list = make([]language.Frame, len(scopes))
	for i, s := range scopes {
		list[i] = language.Frame{Function: s.method.function, File: s.method.file, Line: vm.line(s.method, s.bci), Kind: "inlined", Place: b.At, Guess: !placed}
	}
	list[len(list)-1].Kind = "compiled"
	return list, place{from, at.objects, scopes}, placed
}

// place is a place in a compiled method for which the compiler has noted what runs there.
type place struct {
	from    uint64  // from which offsets of scopes count
	objects uint32  // the offset of the objects that were taken apart; 0 if there are none
	scopes  []scope // the innermost first: each is inlined in the next one
}

// scope is what runs of one method at a place.
type scope struct {
	method   *method
	bci      int32
	locals   uint32 // the offset of where its variables are; 0 if there are none
	monitors uint32 // the offset of where the objects are that it has locked; 0 if there are none
}

// original returns the PC of a frame of a compiled method that returns to pc. sp is the frame's
// stack pointer. If the method is to be taken apart, the frame returns to a handler, and has kept
// the PC itself.
func (vm *machine) original(r *vmstructs.Reader, b *vmstructs.Blob, pc, sp uint64) uint64 {
	if !vm.isHandler(r, b, pc) {
		return pc
	}
	at, ok := r.Number(b.At, vm.compiled.originalPC)
	if before, is := r.Word(sp + uint64(at)); ok && is && before >= b.Lo && before <= b.Hi {
		return before
	}
	return pc
}

// isHandler reports whether pc is the one of a handler to which frames of a compiled method return
// that are to be taken apart.
func (vm *machine) isHandler(r *vmstructs.Reader, b *vmstructs.Blob, pc uint64) bool {
	c := &vm.compiled
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
		if ok && handler == pc {
			return true
		}
	}
	return false
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

// scopes returns a scope and the scopes that it is inlined in, nil if they cannot be read, and the
// address from which their offsets count.
func (vm *machine) scopes(r *vmstructs.Reader, b *vmstructs.Blob, at uint32) (from uint64, list []scope) {
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
		return 0, nil
	}
	var room [scopeBytes]byte
	for at != 0 {
		k, _ := r.Memory.ReadMemory(from+uint64(at), room[:])
		n := numbers{bytes: room[:k], least: c.least}
		outer, index, bci, locals := n.next(), n.next(), int32(n.next())-1, n.next()
		n.next() // what is on the stack of the bytecodes
		monitors := n.next()
		if n.short || index == 0 || len(list) == mostInlined {
			return 0, nil
		}
		of, ok := r.Word(metadata + 8*uint64(index-1))
		if !ok {
			return 0, nil
		}
		m := vm.method(r, of)
		// A scope comes behind the one that it is inlined in.
		if m == nil || outer >= at || bci < -1 || int64(bci) >= int64(m.size) {
			return 0, nil
		}
		list = append(list, scope{m, bci, locals, monitors})
		at = outer
	}
	return from, list
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
