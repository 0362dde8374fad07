package symbol

import (
	"debug/dwarf"
	"strconv"
	"strings"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
)

// parameters returns the parameters of the function whose entry is at off, in brackets, as GDB
// spells them, followed by " const" for a const method. It returns "" where an entry cannot be
// read.
func (d *debugInfo) parameters(u *unit, off uint64) string {
	e, err := d.entryAt(u, dwarfdata.Value{N: off, Class: dwarfdata.ClassReference})
	if err != nil {
		return ""
	}
	p := typePrinter{}
	p.arguments(&e, true)
	if p.failed {
		return ""
	}
	return string(p.text)
}

// templateTypes returns the arguments of the template that the function whose entry is at off is
// made of, as "<int>". It returns "" if there are none, if one is no type, or if an entry cannot be
// read.
func (d *debugInfo) templateTypes(u *unit, off uint64) string {
	e, err := d.entryAt(u, dwarfdata.Value{N: off, Class: dwarfdata.ClassReference})
	if err != nil {
		return ""
	}
	p := typePrinter{}
	err = e.eachChild(func(x *typeEntry) {
		switch x.tag {
		case dwarf.TagTemplateTypeParameter:
			if len(p.text) == 0 {
				p.put("<")
			} else {
				p.put(", ")
			}
			p.print(p.resolve(x, x.of))
		case dwarf.TagTemplateValueParameter, dwarfdata.TagGNUTemplateTemplate, dwarfdata.TagGNUTemplateParameterPack:
			p.failed = true
		}
	})
	if p.failed || err != nil || len(p.text) == 0 {
		return ""
	}
	return string(p.text) + ">"
}

// typePrinter writes types as GDB's c_print_type does: "const char *(*)[3]" has a base, a part
// before the name and a part behind it.
type typePrinter struct {
	text   []byte
	depth  int
	failed bool // an entry cannot be read, or the text goes beyond a bound
}

// Bounds of a printed type. Real ones nest some dozens deep.
const (
	maxTypeDepth = 64
	maxTypeText  = 1 << 14
)

func (p *typePrinter) put(s string) {
	if p.text = append(p.text, s...); len(p.text) > maxTypeText {
		p.failed = true
	}
}

// qualified is a type without the const and volatile around it. constant and volatile note those. A
// nil entry is void.
type qualified struct {
	*typeEntry
	constant, volatile bool
}

// resolve returns the type that a value of an entry refers to.
func (p *typePrinter) resolve(from *typeEntry, to dwarfdata.Value) (q qualified) {
	for range maxTypeDepth {
		if to.Class == dwarfdata.ClassNone || p.failed {
			return q
		}
		e, err := from.info.entryAt(from.unit, to)
		if err != nil {
			break
		}
		switch e.tag {
		case dwarf.TagConstType:
			q.constant = true
		case dwarf.TagVolatileType:
			q.volatile = true
		case dwarf.TagRestrictType, dwarf.TagAtomicType:
		default:
			q.typeEntry = &e
			return q
		}
		from, to = &e, e.of
	}
	p.failed = true
	return q
}

func (p *typePrinter) target(q qualified) qualified { return p.resolve(q.typeEntry, q.of) }

// named reports whether a type is printed by its name.
func (q qualified) named() bool { return q.typeEntry == nil || q.name.Text() }

// print writes a type that no name follows.
func (p *typePrinter) print(q qualified) {
	if p.depth++; p.depth > maxTypeDepth {
		p.failed = true
	}
	if !p.failed {
		p.base(q)
		if !q.named() {
			switch q.tag {
			case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType, dwarf.TagPtrToMemberType, dwarf.TagSubroutineType, dwarf.TagArrayType:
				p.put(" ")
			}
		}
		p.prefix(q, false, false)
		p.suffix(q, false)
	}
	p.depth--
}

// base writes the innermost type that a type is made of: the char of "const char *(*)[3]".
func (p *typePrinter) base(q qualified) {
	for range maxTypeDepth {
		if q.named() || p.failed {
			break
		}
		switch q.tag {
		case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType, dwarf.TagPtrToMemberType, dwarf.TagSubroutineType, dwarf.TagArrayType:
			q = p.target(q)
			continue
		}
		break
	}
	if q.constant {
		p.put("const ")
	}
	if q.volatile {
		p.put("volatile ")
	}
	switch {
	case q.typeEntry == nil:
		p.put("void")
	case q.elsewhere:
		p.failed = true
	case q.named():
		p.name(q.typeEntry)
	case q.tag == dwarf.TagStructType:
		p.put("struct {...}")
	case q.tag == dwarf.TagClassType:
		p.put("class {...}")
	case q.tag == dwarf.TagUnionType:
		p.put("union {...}")
	case q.tag == dwarf.TagEnumerationType:
		p.put("enum {...}")
	default:
		p.failed = true
	}
}

// name writes the name of a type, with the scopes that it is in.
func (p *typePrinter) name(e *typeEntry) {
	name := e.info.text(e.unit, e.name)
	if name == "" {
		p.failed = true
	}
	if e.tag == dwarf.TagBaseType {
		name = shortNames.Replace(name)
	}
	if e.unit.head.language == languageCXX {
		name = CanonicalName(name)
	}
	if isType(e.tag) && e.unit.head.language.scopesTypes() {
		p.put(e.info.prefix(e.unit, e.off))
	}
	p.put(name)
}

// shortNames turns gcc's names of types into GDB's.
var shortNames = strings.NewReplacer(
	"short int", "short", "short unsigned int", "unsigned short",
	"long long int", "long long", "long long unsigned int", "unsigned long long",
	"long int", "long", "long unsigned int", "unsigned long",
)

// prefix writes the part of a type that stands before a name. pointed says that a star or an
// ampersand follows.
func (p *typePrinter) prefix(q qualified, pointed, space bool) {
	if q.named() || p.failed {
		return
	}
	switch q.tag {
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		p.nested(func() { p.prefix(p.target(q), true, true) })
		p.put(map[dwarf.Tag]string{dwarf.TagPointerType: "*", dwarf.TagReferenceType: "&", dwarf.TagRvalueReferenceType: "&&"}[q.tag])
		p.modifiers(q, space)
	case dwarf.TagPtrToMemberType:
		if to := p.target(q); !to.named() && to.tag == dwarf.TagSubroutineType {
			p.put("(")
		} else {
			p.nested(func() { p.prefix(to, false, false) })
		}
		if class := p.resolve(q.typeEntry, q.class); class.typeEntry != nil {
			p.name(class.typeEntry)
		}
		p.put("::*")
	case dwarf.TagSubroutineType, dwarf.TagArrayType:
		p.nested(func() { p.prefix(p.target(q), false, space) })
		if pointed {
			p.put("(")
		}
	}
}

// modifiers writes the const and volatile of a pointer.
func (p *typePrinter) modifiers(q qualified, space bool) {
	if q.constant {
		p.put(" const")
	}
	if q.volatile {
		p.put(" volatile")
	}
	if space && (q.constant || q.volatile) {
		p.put(" ")
	}
}

// suffix writes the part of a type that stands behind a name.
func (p *typePrinter) suffix(q qualified, pointed bool) {
	if q.named() || p.failed {
		return
	}
	switch q.tag {
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType:
		p.nested(func() { p.suffix(p.target(q), true) })
	case dwarf.TagPtrToMemberType:
		to := p.target(q)
		p.nested(func() { p.suffix(to, !to.named() && to.tag == dwarf.TagSubroutineType) })
	case dwarf.TagSubroutineType, dwarf.TagArrayType:
		if pointed {
			p.put(")")
		}
		if q.tag == dwarf.TagArrayType {
			p.bounds(q.typeEntry)
		} else {
			p.arguments(q.typeEntry, false)
		}
		p.nested(func() { p.suffix(p.target(q), false) })
	}
}

func (p *typePrinter) nested(f func()) {
	if p.depth++; p.depth > maxTypeDepth {
		p.failed = true
	} else {
		f()
	}
	p.depth--
}

// bounds writes how many elements each dimension of an array has.
func (p *typePrinter) bounds(e *typeEntry) {
	err := e.eachChild(func(x *typeEntry) {
		if x.tag != dwarf.TagSubrangeType {
			return
		}
		p.put("[")
		switch {
		case x.count.Class == dwarfdata.ClassConstant:
			p.put(strconv.FormatUint(x.count.N, 10))
		case x.upper.Class == dwarfdata.ClassConstant:
			p.put(strconv.FormatUint(x.upper.N+1, 10))
		}
		p.put("]")
	})
	p.failed = p.failed || err != nil
}

// arguments writes the parameters of a function or of a function type. For a function it leaves out
// artificial parameters, such as "this", and the const of the parameters themselves.
func (p *typePrinter) arguments(e *typeEntry, function bool) {
	p.put("(")
	any, more, first, method := false, false, true, false
	err := e.eachChild(func(x *typeEntry) {
		more = more || x.tag == dwarf.TagUnspecifiedParameters
		if x.tag != dwarf.TagFormalParameter {
			return
		}
		if x = p.whole(x); x == nil {
			return
		}
		t := p.resolve(x, x.of)
		if first && x.artificial && t.typeEntry != nil && t.tag == dwarf.TagPointerType {
			method = p.target(t).constant
		}
		first = false
		switch {
		case function && x.artificial:
			return
		case function:
			t.constant, t.volatile = false, false
		case x.artificial && !any:
			t.constant = true // "this" of a pointer to a method
		}
		if any {
			p.put(", ")
		}
		any = true
		p.print(t)
	})
	p.failed = p.failed || err != nil
	switch {
	case any && more:
		p.put(", ...")
	case more:
		p.put("...")
	case !any:
		p.put("void")
	}
	p.put(")")
	if function && method {
		p.put(" const")
	}
}

// whole returns the entry that has the type of the parameter x: x itself, or an entry that x refers
// to. It returns nil if there is none.
func (p *typePrinter) whole(x *typeEntry) *typeEntry {
	artificial := x.artificial
	for range maxOrigins {
		if x.of.Class != dwarfdata.ClassNone || !x.origin.Reference() {
			x.artificial = artificial
			return x
		}
		next, err := x.info.entryAt(x.unit, x.origin)
		if err != nil {
			break
		}
		x = &next
		artificial = artificial || x.artificial
	}
	p.failed = true
	return nil
}

// withParameters returns a function's name as GDB's backtrace shows it where the function has no
// linkage name.
func withParameters(name, parameters string) string {
	if parameters == "" || strings.HasSuffix(name, ")") && !strings.HasSuffix(name, "operator()") {
		return name // a conversion to a pointer to a function has brackets already
	}
	if full := name + parameters; keepsParameters(full) || strings.Contains(name, ".") {
		return full
	}
	return name
}
