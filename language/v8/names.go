package v8

import (
	"strings"
	"unicode"
)

// anonymous stands for a function without a name.
const anonymous = "<anonymous>"

// nameOf returns the name of a function as V8's own traces have it: "Class.method", "new Class",
// "Class.method [as other]". fn is 0 if the function object is not known.
func (h *heap) nameOf(f *function, fn uint64, this value, constructor bool) string {
	name := f.name
	if own := h.ownName(fn); own != "" {
		name = own
	}
	if name == "" && h.isEval(f.script) {
		name = "eval"
	}
	switch {
	case constructor && name == "":
		return "new " + anonymous
	case constructor:
		return "new " + name
	case !h.isMethodCall(&this):
		if name == "" {
			return anonymous
		}
		return name
	}
	class := h.classOf(&this)
	method := h.methodName(f, fn, this.word)
	if name == "" {
		if method == "" {
			method = anonymous
		}
		if class != "" {
			class += "."
		}
		return class + method
	}
	text := name
	if class != "" && class != name && isIdentifier(name) {
		text = class + "." + name
	}
	if method != "" && !endsWith(name, method, h.major > 11) {
		text += " [as " + method + "]"
	}
	return text
}

// endsWith reports whether a function's name ends with the name of a method. Of late, what stands
// before it may be "get" or "set".
func endsWith(name, method string, spaces bool) bool {
	begin, found := strings.CutSuffix(name, method)
	return found && (begin == "" || strings.HasSuffix(begin, ".") || spaces && strings.HasSuffix(begin, " "))
}

func isIdentifier(name string) bool {
	for i, r := range name {
		if !(r == '$' || r == '_' || unicode.IsLetter(r) || i > 0 && (unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Pc, r))) {
			return false
		}
	}
	return name != ""
}

// isPlain reports whether a program has given no name to a function object.
func (h *heap) isPlain(fn uint64) bool {
	return h.plainNames[h.mapOf(fn)] || h.ownName(fn) == "" && h.plainNames[h.mapOf(fn)]
}

// ownName returns the name that a program has given to a function object; "" for none.
func (h *heap) ownName(fn uint64) string {
	if fn == 0 {
		return ""
	}
	m := h.mapOf(fn)
	if h.plainNames[m] {
		return "" // V8 computes the names of all functions that are made so
	}
	var bytes [mapSize]byte
	if h.kept != nil && isPointer(m) && h.Bytes(m-1, bytes[:]) && h.kept.isPlain(m, &bytes, false) {
		keep(h.plainNames, m, true)
		return ""
	}
	if p, ok := h.own(fn, "name"); ok && !p.accessor && h.isString(p.value) {
		return h.text(p.value)
	} else if ok && p.accessor {
		keep(h.plainNames, m, true)
		if h.kept != nil && h.Uint(m-1+h.mapBits3, 4)&mapIsDictionary == 0 {
			h.kept.isPlain(m, &bytes, true)
		}
	}
	return ""
}

// debugName returns the name that V8 uses for a class.
func (h *heap) debugName(fn uint64, own bool) string {
	if own {
		if name := h.ownName(fn); name != "" {
			return name
		}
	}
	f, ok := h.functionOf(h.field(fn, h.functionShared))
	if !ok {
		return ""
	}
	return f.name
}

// isMethodCall reports whether "this" is an object of the program's.
func (h *heap) isMethodCall(this *value) bool {
	if this.shape != 0 {
		return true
	}
	if !this.known {
		return false
	}
	if isSmall(this.word) {
		return true
	}
	switch t, ok := h.typeOf(this.word); {
	case !ok, t == h.types.globalProxy:
		return false
	case t == h.types.oddball:
		return h.small(this.word, h.oddballKind) <= oddballTrue
	}
	return true
}

// oddballTrue is the kind of true. The kind of false is 0.
const oddballTrue = 1

// classOf returns the name of the class of "this".
func (h *heap) classOf(this *value) string {
	m := this.shape
	if m == 0 {
		if isSmall(this.word) {
			return "Number"
		}
		m = h.mapOf(this.word)
	}
	t := uint16(h.Uint(m-1+h.mapType, 2))
	switch {
	case t < h.types.notString:
		return "String"
	case t == h.types.symbol:
		return "Symbol"
	case t == h.types.heapNumber:
		return "Number"
	case t > h.types.symbol && t < h.types.heapNumber:
		return "BigInt"
	case t == h.types.oddball:
		return "Boolean"
	case t == h.types.proxy:
		return "Proxy"
	case t >= h.types.function && t < h.types.functionEnd && this.shape == 0:
		// A class, as a static method's "this"; of late, any function.
		if h.major > 12 || h.isClass(this.word) {
			if name := h.debugName(this.word, true); name != "" {
				return name
			}
		}
	}
	if name, ok := h.classes[m]; ok {
		return name
	}
	name := h.className(m, this)
	if this.shape == 0 { // else there is no object to look at
		keep(h.classes, m, name)
	}
	return name
}

// isClass reports whether a function is a class.
func (h *heap) isClass(fn uint64) bool {
	const class = 1 << 10
	return h.Uint(h.field(fn, h.functionShared)-1+h.sharedFlags, 4)&class != 0
}

// className returns the name of the class of an object with a Map.
func (h *heap) className(m uint64, this *value) (name string) {
	bits2, bits3 := h.Uint(m-1+h.mapBits2, 1), h.Uint(m-1+h.mapBits3, 4)
	if bits2&mapIsBase != 0 && bits3&mapIsPrototype == 0 {
		if fn := h.constructorOf(m); h.isFunction(fn) {
			if name = h.debugName(fn, h.atLeast(14, 2)); name != "" && name != "Object" {
				return name
			}
		}
	}
	first := this.word
	if this.shape != 0 {
		first = h.field(m, h.mapPrototype)
	}
	name = ""
	h.prototypes(first, func(object uint64) bool {
		h.properties(object, func(p property) bool {
			if p.accessor {
				return true
			}
			switch h.key(p.key) {
			case "Symbol Symbol.toStringTag":
				if h.isString(p.value) {
					name = h.text(p.value)
					return false
				}
			case "constructor":
				if object != this.word && h.isFunction(p.value) {
					if s := h.debugName(p.value, h.atLeast(14, 2)); s != "" && s != "Object" && name == "" {
						name = s
					}
				}
			}
			return true
		})
		return name == ""
	})
	if name != "" {
		return name
	}
	if t := uint16(h.Uint(m-1+h.mapType, 2)); t >= h.types.function && t < h.types.functionEnd {
		return "Function"
	}
	return "Object"
}

// methodName returns the name of the property of an object, or of its prototypes, that is a
// function; "" if there is none, or there are several.
func (h *heap) methodName(f *function, fn, this uint64) string {
	if fn == 0 || f.kind >= kindMembers && f.kind <= kindStatic2 || !isPointer(this) {
		return ""
	}
	if name := h.methodFound(f, fn, this); name != "" {
		return name
	}
	name, several := "", false
	h.prototypes(this, func(object uint64) bool {
		h.properties(object, func(p property) bool {
			if !p.listed || !h.isOf(&p, fn) || h.is(p.key, h.types.symbol) {
				return true
			}
			if key := h.key(p.key); name == "" {
				name = key
			} else if key != name {
				several = true
			}
			return true
		})
		return true
	})
	if several {
		return ""
	}
	return name
}

// methodFound returns the name of a method if an object, or its prototypes, have the function by
// its own name.
func (h *heap) methodFound(f *function, fn, this uint64) string {
	name := f.name
	if s := strings.TrimPrefix(strings.TrimPrefix(name, "get "), "set "); s != name {
		name = s
	} else if i := strings.LastIndexByte(name, '.'); i >= 0 && f.inferred {
		name = name[i+1:]
	}
	if fn == 0 || name == "" || !isPointer(this) {
		return ""
	}
	is, found := false, false
	h.prototypes(this, func(object uint64) bool {
		var p property
		if p, found = h.own(object, name); found {
			is = h.isOf(&p, fn)
		}
		return !found
	})
	if !is {
		return ""
	}
	return name
}
