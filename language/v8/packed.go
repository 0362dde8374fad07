package v8

import "github.com/sfwalk/sfwalk/arch/amd64"

// V8 as Chromium and Electron have it packs the values in its objects: each has 32 bits, the lower
// half of an address. The upper half is the one of the cage that the heap is in. What must not be
// forged, such as bytecode, is in a cage of its own, and in a sandbox objects lead there, and to
// memory that is no object, by numbers of entries of tables alone.
//
// What is read is made here as it is in other V8s, whose values have 64 bits.

// cages are where the objects of an isolate are.
type cages struct {
	heap    uint64 // the beginning of the heap's
	trusted uint64 // the same of the one for what must not be forged
	table   uint64 // by which objects of the heap lead there
	codes   uint64 // the same of code, in some releases
	texts   uint64 // the table by which they lead to texts that are no objects; 0 if it was not looked for
	isolate uint64
}

// Parts of the tables' entries, and of the numbers by which objects name them.
const (
	cageSize      = 1 << 32
	entryAddress  = 1<<48 - 1
	entryTagShift = 49
	entryTagMask  = 0x7f
	trustedShift  = 9 // of a number
	codeMark      = 1 // of a number of the table of code
	codesBehind   = 8 // words from the other table on
	textShift     = 6
	cageWords     = 512 // of an isolate that has the addresses of cages and tables, at most
	tableAlign    = 4 << 10
)

// half returns the upper half of an address.
func half(v uint64) uint64 { return v &^ (cageSize - 1) }

// unpack returns a value as it is in other V8s. Its object is in the cage that begins at cage.
func unpack(v uint32, cage uint64) uint64 {
	if v&1 == 0 {
		return uint64(uint32(int32(v)>>1)) << 32
	}
	return cage | uint64(v)
}

// onStack reads a value on the stack. There values have 64 bits, but compilers keep some as they
// are in objects, and what is in the upper half of a small integer is anything.
func (h *heap) onStack(at uint64) uint64 {
	v := h.slot(at)
	if h.packed && (isSmall(v) || v < cageSize) {
		return unpack(uint32(v), h.cages.heap)
	}
	return v
}

// protected reads a value in an object that must not be forged, which leads to another such.
func (h *heap) protected(object, offset uint64) uint64 {
	if !h.packed {
		return h.field(object, offset)
	}
	return h.packedField(object, offset, h.cages.trusted)
}

func (h *heap) packedField(object, offset, cage uint64) uint64 {
	if !isPointer(object) {
		h.Fail("there is no object at %#x", object)
		return 0
	}
	return unpack(uint32(h.Uint(object-1+offset, 4)), cage)
}

// trustedIn reads the field of an object of the heap's that leads to one that must not be forged; 0
// if it leads to none.
func (h *heap) trustedIn(object, offset uint64) uint64 {
	n := h.Uint(object-1+offset, 4)
	if n == 0 {
		return 0
	}
	table := h.cages.table + 8*(n>>trustedShift)
	if n&codeMark != 0 {
		table = h.cages.codes + h.codeEntry*(n>>h.codeShift) + h.codeEntry - 8
	}
	v := h.Uint(table, 8)&entryAddress | 1
	if half(v) != h.cages.trusted || !isPointer(v) {
		return 0
	}
	return v
}

// enter finds the cages of an isolate. It reports whether it did.
func (h *heap) enter(isolate uint64) bool {
	if h.cages.isolate == isolate {
		return true
	}
	c := cages{isolate: isolate, heap: h.Uint(isolate, 8)}
	table := uint64(0)
	h.eachWord(isolate+8, 8*cageWords, func(at, word uint64) bool {
		// The table stands directly behind its cage.
		if isCage(word) && h.isTable(at+8) {
			c.trusted, table = word, at+8
		}
		return c.trusted == 0
	})
	c.table, c.codes = h.Uint(table, 8), h.Uint(table+8*codesBehind, 8)
	if h.Err() != nil || c.trusted == 0 {
		return false
	}
	h.cages = c
	return true
}

func isCage(v uint64) bool { return v != 0 && v%cageSize == 0 && v>>48 == 0 }

// isTable reports whether a word may be the address of a table.
func (h *heap) isTable(at uint64) bool {
	defer h.Err()
	base := h.Uint(at, 8)
	if base < cageSize || base%tableAlign != 0 || base>>47 != 0 {
		return false
	}
	h.Uint(base, 8)
	return h.OK()
}

// external returns the address of the characters of a string that has them outside of the heap.
func (h *heap) external(v uint64) uint64 {
	if !h.packed {
		return h.field(v, h.externalData)
	}
	resource, data := h.Uint(v-1+h.externalData-4, 4)>>textShift, h.Uint(v-1+h.externalData, 4)>>textShift
	if h.cages.texts == 0 {
		h.cages.texts = h.findTexts(resource, data)
	}
	if h.cages.texts == 0 || data == 0 {
		h.Fail("the text at %#x was not found", v-1)
		return 0
	}
	return h.Uint(h.cages.texts+8*data, 8) & entryAddress
}

// findTexts finds the table with the entries of a text: of the object that owns it, and of its
// characters. The isolate has the address of the table, or leads to it. The kinds of the two
// entries are numbers that follow each other.
func (h *heap) findTexts(owner, data uint64) (table uint64) {
	is := func(base uint64) bool {
		defer h.Err()
		if base < cageSize || base%tableAlign != 0 || base>>47 != 0 {
			return false
		}
		first, second := h.Uint(base+8*owner, 8), h.Uint(base+8*data, 8)
		kind := first >> entryTagShift & entryTagMask
		if kind == 0 || second>>entryTagShift&entryTagMask != kind+1 {
			return false
		}
		h.Uint(first&entryAddress, 8)
		h.Uint(second&entryAddress, 1)
		return h.OK()
	}
	if owner == 0 || data == 0 || !h.spend(32*cageWords) {
		return 0
	}
	h.eachWord(h.cages.isolate+8, 8*cageWords, func(_, word uint64) bool {
		to := uint64(0)
		if word%8 == 0 && word > tableAlign && word>>47 == 0 {
			to = h.Uint(word, 8)
			h.Err()
		}
		switch {
		case is(word):
			table = word
		case is(to):
			table = to
		}
		return table == 0
	})
	h.Err()
	return table
}

// enter finds the isolate of a stack, and its cages. It reports whether it did.
func (w *walk) enter() bool {
	h := w.heap
	if w.caged != 0 {
		return w.caged > 0
	}
	w.caged = -1
	is := func(at uint64) bool {
		if at%8 == 0 && h.Uint(at+isolateSelf, 8) == at && isCage(h.Uint(at, 8)) && h.OK() && h.enter(at) {
			w.caged = 1
		}
		h.Err()
		return w.caged > 0
	}
	for _, f := range w.stack.Frames {
		if root := f.Register(amd64.R13); root.Known() && is(root.Bits-rootBias) {
			return true
		}
	}
	if sp, end, ok := w.span(); ok {
		h.pointers(sp, end, is)
	}
	return w.caged > 0
}

// unentered says that a frame that looks like one of JavaScript's cannot be read without its
// isolate.
func (w *walk) unentered(level int) {
	h := w.heap
	if fp, ok := w.recordOf(level); ok {
		r := record{fp: fp}
		function, context := h.slot(r.at(functionAt)), h.slot(r.at(markAt))
		if h.Err() == nil && isPointer(function) && isPointer(context) && half(function) == half(context) {
			w.said.Early = "the isolate was not found"
		}
	}
}

// pack makes the layout the one of the same release with packed values, in a sandbox. The offsets
// are as V8's headers have them.
func (l *layout) pack() {
	l.packed, l.word = true, 4
	l.mapInObject, l.mapWords, l.mapType, l.mapBits2, l.mapBits3 = 5, 4, 8, 11, 12
	l.mapPrototype, l.mapConstructor, l.mapDescriptors = 16, 20, 24
	l.functionShared, l.functionData = 16, 4
	l.sharedName, l.sharedScript, l.sharedFlags = 12, 20, 32
	l.scriptSource, l.scriptName, l.scriptLine, l.scriptColumn = 4, 8, 12, 16
	l.scriptType, l.scriptEnds, l.scriptID = 24, 28, 32
	l.uncompiledName, l.uncompiledStart, l.uncompiledEnd = 8, 12, 16
	l.bytecodeLength, l.positions, l.bytecodes = 8, 16, 40
	l.arrayLength, l.array = 4, 8
	l.objectProperties, l.descriptors, l.oddballKind = 4, 16, 24
	if !from(l.major, l.minor, 15, 2) {
		l.descriptors = 20
	}
	l.stringLength, l.chars, l.consFirst, l.consSecond = 8, 12, 12, 16
	l.slicedParent, l.slicedOffset, l.thinActual, l.externalData = 12, 16, 12, 16
	l.scriptURLAt /= 2
	l.codeOf, l.codeHeader, l.codeDeopt, l.codePositions = 4, 16, 8, 12
	if l.codeStart, l.codeFlags, l.codeSize = 24, 36, 40; !from(l.major, l.minor, 14, 9) {
		l.codeStart, l.codeBack, l.codeFlags, l.codeSize = 0, 20, 28, 32
	}
	if l.codeEntry, l.codeShift = 8, 8; !from(l.major, l.minor, 14, 9) {
		l.codeEntry, l.codeShift = 16, 9
	}
}
