package v8

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// heap reads V8's objects. A value is a small integer, or the address of an object plus one.
type heap struct {
	*structs.Reader
	*layout
	effort int           // what was read, in bytes or in the time of so many
	most   int           // which it may be
	stack  target.Memory // of the stack; nil if the Reader has it, too
	cages  cages         // if values are packed
	slots  [8]byte
	room   [4 << 10]byte

	// What is known of the moment that is read: nothing moves.
	keys       map[uint64]string // names of properties
	classes    map[uint64]string // names of classes, by Map
	plainNames map[uint64]bool   // Maps of functions without a name of their own
	functions  map[uint64]function
	kept       *kept                 // nil if nothing is kept for later
	once       kept                  // frames of this stack
	tables     map[uint64][]byte     // of positions
	modules    map[uint64]wasmModule // by their instances
	patterns   map[uint64]string     // names of code of regular expressions
	codes      map[uint64]code       // by an address in it; that there is none, too
	compiled   map[uint64]uint64     // SharedFunctionInfos of optimized code, by its Code
	objects    map[uint64]uint64     // the same, of function objects; 0 for what is none
	sites      map[uint64]site       // of optimized code, by the PC
	offsets    map[uint64]int        // in the bytecode of baseline code, by the PC
	calls      map[callKey]language.Frame
}

func newHeap(r *structs.Reader, l *layout) *heap {
	return &heap{Reader: r, layout: l, most: mostEffort, keys: map[uint64]string{}, classes: map[uint64]string{}, plainNames: map[uint64]bool{},
		functions: map[uint64]function{}, tables: map[uint64][]byte{}, codes: map[uint64]code{}, patterns: map[uint64]string{}, modules: map[uint64]wasmModule{},
		compiled: map[uint64]uint64{}, objects: map[uint64]uint64{}, sites: map[uint64]site{}, offsets: map[uint64]int{}, calls: map[callKey]language.Frame{}}
}

// mostEffort bounds what is read for one stack, in bytes. mostKept bounds what is kept of each
// kind.
const mostKept = 1 << 12

var mostEffort = 64 << 20

// spend counts effort. It reports whether there may be more.
func (h *heap) spend(n int) bool {
	if h.effort += n; h.effort > h.most {
		h.Fail("the stack takes too much effort")
		return false
	}
	return true
}

// keep keeps a value, and forgets others if there are too many.
func keep[K comparable, V any](m map[K]V, key K, v V) V {
	if len(m) >= mostKept {
		clear(m)
	}
	m[key] = v
	return v
}

func isSmall(v uint64) bool   { return v&1 == 0 }
func smallOf(v uint64) int    { return int(int32(v >> 32)) }
func isPointer(v uint64) bool { return v&3 == 1 && v>>48 == 0 }

// weakly returns the pointer that a weak one is.
func weakly(v uint64) uint64 { return v &^ 2 }

// field reads a value in an object.
func (h *heap) field(object, offset uint64) uint64 {
	if !isPointer(object) {
		h.Fail("there is no object at %#x", object)
		return 0
	}
	if h.packed {
		return h.packedField(object, offset, h.cages.heap)
	}
	return h.Uint(object-1+offset, 8)
}

// slot reads a word on the stack.
func (h *heap) slot(at uint64) uint64 {
	if h.stack == nil {
		return h.Uint(at, 8)
	}
	if n, err := h.stack.ReadMemory(at, h.slots[:]); n < len(h.slots) {
		h.Fail("the stack at %#x: %w", at, err)
		return 0
	}
	return h.Arch.Order.Uint64(h.slots[:])
}

// small reads a small integer in an object, -1 if it is none.
func (h *heap) small(object, offset uint64) int {
	if v := h.field(object, offset); isSmall(v) {
		return smallOf(v)
	}
	return -1
}

// mapOf returns the Map of an object. While the garbage collector moves objects, an object that has
// moved has its new address in that place; the rest of it is still there.
func (h *heap) mapOf(object uint64) uint64 {
	m := h.field(object, 0)
	switch {
	case h.packed && m != 0 && isSmall(m): // how far it has moved
		m = h.field(object+uint64(4*int64(smallOf(m))), 0)
	case m != 0 && isSmall(m) && isPointer(m+1):
		m = h.Uint(m, 8)
	}
	return m
}

// typeOf returns the type of a value that should be an object; 0 if it is none. Type 0 is a string.
func (h *heap) typeOf(v uint64) (t uint16, ok bool) {
	if !isPointer(v) {
		return 0, false
	}
	m := h.mapOf(v)
	if !isPointer(m) {
		h.Fail("there is no object at %#x", v-1)
		return 0, false
	}
	t = uint16(h.Uint(m-1+h.mapType, 2))
	return t, h.OK()
}

// is reports whether a value is an object of a type.
func (h *heap) is(v uint64, want uint16) bool {
	t, ok := h.typeOf(v)
	return ok && t == want
}

// isFunction reports whether a value is a function of JavaScript.
func (h *heap) isFunction(v uint64) bool {
	t, ok := h.typeOf(v)
	return ok && t >= h.types.function && t < h.types.functionEnd
}

// isString reports whether a value is a string.
func (h *heap) isString(v uint64) bool {
	t, ok := h.typeOf(v)
	return ok && t < h.types.notString
}

// element reads an element of an array of values.
func (h *heap) element(array uint64, i int) uint64 {
	return h.field(array, h.array+h.word*uint64(i))
}

// protectedElement is element of an array of what must not be forged.
func (h *heap) protectedElement(array uint64, i int) uint64 {
	return h.protected(array, h.array+h.word*uint64(i))
}

// lengthOf reads how many elements an array has, -1 if that is no number.
func (h *heap) lengthOf(array uint64) int {
	if h.plainLengths {
		return int(int32(h.Uint(array-1+h.arrayLength, 4)))
	}
	return h.small(array, h.arrayLength)
}
