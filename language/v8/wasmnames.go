package v8

// Bounds of modules of WebAssembly.
const (
	mostModule   = 1 << 30 // bytes
	mostSections = 1 << 10
	mostNames    = 8 << 20 // bytes of all names of functions
	wasmFields   = 64      // words of an instance
	nativeModule = 2 << 10 // bytes of V8's record of a module that are looked through
	nameChunk    = 1 << 10
)

// wasmNames is what a module of WebAssembly tells of its names: where the names of functions are.
type wasmNames struct {
	module string // "" for none
	lo, hi uint64 // the list: a count, and for each an index and a name; equal if there is none
}

// wasmModule is what is known of a module of WebAssembly.
type wasmModule struct {
	record uint64 // V8's record of it; 0 if it is not known
	code   uint64 // where this has the root of a map of code; 0 if that is not known
	less   uint64 // in a node of that: the nodes whose keys are less
	array  uint64 // behind the root: code that is not in the map yet
	names  wasmNames
}

// module returns the module of an instance.
func (h *heap) module(instance uint64) wasmModule {
	m, ok := h.modules[instance]
	if ok {
		return m
	}
	lo, size := uint64(0), uint64(0)
	if m.record, lo, size = h.wasmBytes(instance); size > 0 {
		h.findWasmCode(&m)
		m.names = h.wasmNames(lo, lo+size)
	}
	h.Err()
	return keep(h.modules, instance, m)
}

// wasmName returns the name of a function of WebAssembly, by its index, as V8's own traces have it:
// "module.function", or one of both; "" if the module tells none.
func (h *heap) wasmName(m *wasmModule, index uint32) string {
	name := h.nameIn(m.names, index)
	h.Err()
	if name != "" && m.names.module != "" {
		return m.names.module + "." + name
	}
	return m.names.module + name
}

// wasmBytes returns V8's record of an instance's module, and where the bytes of the module are, as
// they were compiled. An instance leads to its module, that to the record, which no table
// describes. But of its words one leads to an address and a size, and these to the bytes, which
// begin as all modules do.
func (h *heap) wasmBytes(instance uint64) (record, lo, size uint64) {
	left := []uint64{instance}
	for depth := 0; depth < 3 && len(left) > 0; depth++ {
		var next []uint64
		for _, object := range left {
			for i := range uint64(wasmFields) {
				v := h.protected(object, h.word*(1+i))
				t, ok := h.typeOf(v)
				h.Err()
				switch {
				case !ok || !h.spend(64):
				case t == h.types.foreign || t == h.types.trustedForeign || h.types.foreign == noType && depth > 0:
					if record, lo, size = h.bytesOf(h.Uint(v-1+h.word, 8)); size > 0 {
						return record, lo, size
					}
				case t == h.types.wasmModule || t == h.types.wasmInstance:
					if len(next) < 4 {
						next = append(next, v)
					}
				}
				h.Err()
			}
		}
		left = next
	}
	return 0, 0, 0
}

// bytesOf returns V8's record of a module and its bytes, by what keeps the record alive.
func (h *heap) bytesOf(manager uint64) (record, lo, size uint64) {
	pointer := uint64(24) // to a shared pointer
	if h.packed {
		pointer = 40 // behind its place in a table
	}
	record = h.Uint(h.Uint(manager+pointer, 8), 8)
	words := h.raw(record, nativeModule)
	h.Err()
	for ; len(words) > 0; words = words[8:] {
		p := h.Arch.Order.Uint64(words)
		if p&7 != 0 || p == 0 || p>>48 != 0 || !h.spend(1<<10) {
			continue
		}
		lo, size = h.Uint(p, 8), h.Uint(p+8, 8)
		if h.Err() == nil && size >= 8 && size <= mostModule && h.Uint(lo, 4) == wasmMagic && h.Err() == nil {
			return record, lo, size
		}
		h.Err()
	}
	return 0, 0, 0
}

// wasmMagic is how modules begin.
const wasmMagic = 0x6d736100

// wasmNames looks for the section with names in a module (WebAssembly's specification, appendix
// "Custom Sections").
func (h *heap) wasmNames(lo, hi uint64) (names wasmNames) {
	const custom, ofModule, ofFunctions = 0, 0, 1
	at := lo + 8
	for n := 0; n < mostSections && at < hi && h.OK(); n++ {
		kind := h.Uint(at, 1)
		size, begin := h.leb(at + 1)
		end := begin + size
		if end > hi || end < begin || !h.spend(64) {
			return names
		}
		if at = end; kind != custom {
			continue
		}
		length, text := h.leb(begin)
		if length != 4 || h.Text(text, 4) != "name" {
			continue
		}
		for p := text + 4; p < end && h.OK() && h.spend(64); {
			part := h.Uint(p, 1)
			size, begin := h.leb(p + 1)
			if p = begin + size; p > end || p < begin {
				break
			}
			switch part {
			case ofModule:
				length, text := h.leb(begin)
				names.module = h.Text(text, min(length, mostName, size))
			case ofFunctions:
				names.lo, names.hi = begin, p
			}
		}
		return names
	}
	return names
}

// nameIn returns the name of a function. The list is in the order of the indexes.
func (h *heap) nameIn(names wasmNames, index uint32) string {
	count, at := uint64(0), names.lo
	if names.hi-names.lo > mostNames || names.lo == names.hi {
		return ""
	}
	for count, at = h.leb(at); count > 0 && at < names.hi && h.OK() && h.spend(64); count-- {
		i, p := h.leb(at)
		length, text := h.leb(p)
		if at = text + length; at > names.hi || at < text || i > uint64(index) {
			return ""
		}
		if i == uint64(index) {
			return h.Text(text, min(length, mostName))
		}
	}
	return ""
}

// leb reads a number of 32 bits, whose bytes have seven bits each, the lowest first. It returns the
// address behind it.
func (h *heap) leb(at uint64) (v, next uint64) {
	for i := range uint64(5) {
		b := h.Uint(at+i, 1)
		v |= b & 0x7f << (7 * i)
		if b&0x80 == 0 {
			return v, at + i + 1
		}
	}
	h.Fail("the number at %#x has no end", at)
	return 0, at + 5
}
