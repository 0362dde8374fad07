package v8

// property is a property of an object itself.
type property struct {
	key      uint64 // a string or a symbol
	value    uint64
	accessor bool // the value is a pair of functions, or what V8 itself computes
	listed   bool // it is enumerable
}

// Bounds of what is looked at in search of a property.
const (
	mostProperties = 4 << 10 // of an object
	mostPrototypes = 64
)

// Parts of a property's details, and of a Map's bits.
const (
	detailAccessor  = 1
	detailUnlisted  = 2 << 2
	detailConstant  = 1 << 5 // the value is beside the details, and not in the object
	detailDouble    = 2 << 6
	detailDoubles   = 7 << 6
	detailIndex     = 19
	detailBits      = 1<<31 - 1
	detailMask      = 1<<10 - 1
	mapOwnShift     = 10
	mapOwnMask      = 1<<10 - 1
	mapIsPrototype  = 1 << 20
	mapIsDictionary = 1 << 21
	mapIsBase       = 1 // of the second bits: it was made by "new" of this constructor
)

// properties hands out the properties of an object itself, until do returns false. It leaves out
// numbers.
func (h *heap) properties(object uint64, do func(p property) bool) {
	m := h.mapOf(object)
	if !isPointer(m) {
		return
	}
	bits := uint32(h.Uint(m-1+h.mapBits3, 4))
	if bits&mapIsDictionary != 0 {
		h.dictionary(h.field(object, h.objectProperties), do)
		return
	}
	descriptors := h.field(m, h.mapDescriptors)
	inside := int(h.Uint(m-1+h.mapWords, 1)) - int(h.Uint(m-1+h.mapInObject, 1))
	for i := range uint64(bits >> mapOwnShift & mapOwnMask) {
		at := h.descriptors + 3*h.word*i
		p := property{key: h.field(descriptors, at)}
		word := h.field(descriptors, at+h.word)
		details := smallOf(word) & detailBits // the highest one has become a sign
		p.accessor, p.listed = details&detailAccessor != 0, details&detailUnlisted == 0
		n := details >> detailIndex & detailMask
		if h.placedFields {
			n = h.placed(m, details, inside)
		}
		switch {
		case !isSmall(word) || !h.OK() || !h.spend(256):
			return
		case details&detailConstant != 0:
			p.value = weakly(h.field(descriptors, at+2*h.word))
		case details&detailDoubles == detailDouble:
			continue
		case n < inside:
			p.value = h.field(object, h.word*(h.Uint(m-1+h.mapInObject, 1)+uint64(n)))
		default:
			p.value = h.element(h.field(object, h.objectProperties), n-inside)
		}
		if !do(p) {
			return
		}
	}
}

// placed returns the number of a property of whose details the place is known: among the ones in
// the object, or behind these.
func (h *heap) placed(m uint64, details, inside int) int {
	const (
		inObject = 1 << 30
		header   = 2 // words of the array of the others
	)
	words := details >> detailIndex & (2*detailMask + 1)
	if details&inObject == 0 {
		return inside + words - header
	}
	return words - int(h.Uint(m-1+h.mapInObject, 1))
}

// dictionary hands out the properties of an object that has very many, or had some deleted.
func (h *heap) dictionary(table uint64, do func(p property) bool) {
	const capacity = 2
	if _, ok := h.typeOf(table); !ok {
		return
	}
	n := smallOf(h.element(table, capacity))
	if n < 0 || n > mostProperties {
		return
	}
	for i := range n {
		at := int(h.dictionaryFirst) + 3*i
		p := property{key: h.element(table, at), value: h.element(table, at+1)}
		if !h.spend(256) {
			return
		}
		details := smallOf(h.element(table, at+2))
		p.accessor, p.listed = details&detailAccessor != 0, details&detailUnlisted == 0
		if t, ok := h.typeOf(p.key); !ok || t > h.types.symbol {
			if h.Err() != nil {
				return
			}
			continue // it is free
		}
		if !do(p) {
			return
		}
	}
}

// prototypes hands out an object, its prototype, and so on.
func (h *heap) prototypes(object uint64, do func(object uint64) bool) {
	for range mostPrototypes {
		t, ok := h.typeOf(object)
		if !ok || t < h.types.receiver || t == h.types.proxy || !do(object) {
			return
		}
		object = h.field(h.mapOf(object), h.mapPrototype)
	}
}

// key returns the name of a property; a symbol has "Symbol" before its name.
func (h *heap) key(v uint64) string {
	if name, ok := h.keys[v]; ok {
		return name
	}
	description := 8 + h.word
	name := ""
	if h.is(v, h.types.symbol) {
		name = "Symbol " + h.text(h.field(v, description))
	} else {
		name = h.text(v)
	}
	return keep(h.keys, v, name)
}

// own returns a property of an object itself.
func (h *heap) own(object uint64, name string) (found property, ok bool) {
	h.properties(object, func(p property) bool {
		if h.key(p.key) == name {
			found, ok = p, true
		}
		return !ok
	})
	return found, ok
}

// isOf reports whether a property is a function, or gets or sets by it.
func (h *heap) isOf(p *property, fn uint64) bool {
	getter, setter := h.word, 2*h.word
	if p.value == fn {
		return true
	}
	return p.accessor && h.is(p.value, h.types.accessors) && (h.field(p.value, getter) == fn || h.field(p.value, setter) == fn)
}

// constructorOf returns the constructor of an object, by its Map; 0 if that is not known.
func (h *heap) constructorOf(m uint64) uint64 {
	v := h.field(m, h.mapConstructor)
	for range mostPrototypes {
		t, ok := h.typeOf(v)
		switch {
		case !ok:
			return 0
		case t == h.types.meta: // the Map from which this one was made
			v = h.field(v, h.mapConstructor)
		case t == h.types.tuple: // the constructor and its realm
			v = h.field(v, h.word)
		default:
			return v
		}
	}
	return 0
}
