package v8

// function is what a SharedFunctionInfo tells.
type function struct {
	name       string
	start, end int    // its position in the source; -1 if that is not known
	script     uint64 // the Script; 0 if there is none
	bytecode   uint64 // the BytecodeArray; 0 if there is none
	builtin    bool   // it is V8's own, and no JavaScript
	api        bool   // it is of the program that has V8 in it
	inferred   bool   // the name is as the function was assigned: "Class.method"
	kind       int
	syntax     int
	native     bool
}

// Kinds of functions that have no name of their own, and parts of a function's flags.
const (
	kindMembers  = 24
	kindStatic   = 25
	kindStatic2  = 26 // of V8 14: behind a member
	flagKind     = 0x1f
	flagNative   = 1 << 5
	syntaxShift  = 7
	syntaxMask   = 7
	flagTopLevel = 1 << 28
)

// sharedOf returns the SharedFunctionInfo of a function object; 0 for what is none.
func (h *heap) sharedOf(fn uint64) (shared uint64) {
	shared, ok := h.objects[fn]
	if !ok {
		if h.isFunction(fn) {
			shared = h.field(fn, h.functionShared)
		}
		if h.OK() {
			keep(h.objects, fn, shared)
		}
	}
	return shared
}

// functionOf reads a SharedFunctionInfo.
func (h *heap) functionOf(shared uint64) (f function, ok bool) {
	if f, ok = h.functions[shared]; ok {
		return f, true
	}
	var bytes [sharedSize]byte
	if h.kept != nil {
		if !isPointer(shared) || !h.Bytes(shared-1, bytes[:]) {
			return f, false
		}
		if f, ok = h.kept.functionOf(shared, &bytes); ok {
			return keep(h.functions, shared, f), true
		}
	}
	if f, ok = h.readFunction(shared); ok {
		keep(h.functions, shared, f)
		if h.kept != nil {
			h.kept.keepFunction(shared, &bytes, f)
		}
	}
	return f, ok
}

func (h *heap) readFunction(shared uint64) (f function, ok bool) {
	f.start, f.end = -1, -1
	if !h.is(shared, h.types.shared) {
		return f, false
	}
	flags := uint32(h.Uint(shared-1+h.sharedFlags, 4))
	f.kind, f.native = int(flags&flagKind), flags&flagNative != 0
	f.syntax = int(flags>>syntaxShift) & syntaxMask
	data := h.dataOf(shared)
	f.builtin = isSmall(data)
	inferred := ""
	switch name := h.field(shared, h.sharedName); {
	case isSmall(name):
	case h.isString(name):
		f.name = h.text(name)
	default:
		s := h.scopeOf(name)
		f.name, inferred, f.start, f.end = s.name, s.inferred, s.start, s.end
	}
	if !f.builtin {
		switch t, _ := h.typeOf(data); t {
		case h.types.uncompiled[0], h.types.uncompiled[1], h.types.uncompiled[2], h.types.uncompiled[3]:
			f.start, f.end = int(int32(h.Uint(data-1+h.uncompiledStart, 4))), int(int32(h.Uint(data-1+h.uncompiledEnd, 4)))
			if n := h.field(data, h.uncompiledName); h.isString(n) {
				inferred = h.text(n)
			}
		case h.types.template:
			f.api = true
		default:
			f.bytecode = h.bytecodeIn(data)
		}
	}
	switch {
	case f.kind == kindMembers:
		f.name = "<instance_members_initializer>"
	case f.kind == kindStatic, f.kind == kindStatic2:
		f.name = "<static_initializer>"
	case f.name == "":
		f.name, f.inferred = inferred, true
	}
	if s := h.field(shared, h.sharedScript); h.is(s, h.types.script) {
		f.script = s
	}
	return f, h.OK()
}

// dataOf returns what a SharedFunctionInfo runs, or how it is to be compiled. One of two fields has
// it; older releases have one field.
func (h *heap) dataOf(shared uint64) uint64 {
	if h.packed {
		if v := h.trustedIn(shared, h.functionData); v != 0 {
			return v
		}
	} else if v := h.field(shared, h.functionData); !isSmall(v) || h.sharedName <= 16 {
		return v
	}
	return h.field(shared, h.functionData+h.word)
}

// bytecodeIn returns the bytecode to which a function's data lead, 0 if they lead to none.
func (h *heap) bytecodeIn(data uint64) uint64 {
	const bytecode = 8 // of InterpreterData, packed or not
	for range 3 {
		t, ok := h.typeOf(data)
		switch {
		case !ok:
			return 0
		case t == h.types.bytecodeArray:
			return data
		case t == h.types.interpreterData:
			data = h.protected(data, bytecode)
		case t == h.types.code:
			data = h.protected(data, h.codeDeopt)
		default:
			return 0
		}
	}
	return 0
}
