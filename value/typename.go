package value

import (
	"debug/dwarf"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
)

var (
	bigEndian    binary.ByteOrder = binary.BigEndian
	littleEndian binary.ByteOrder = binary.LittleEndian
)

// FullName returns the type's own name with the namespaces and classes around it; "" if it has
// none.
func (t *Type) FullName() string {
	if t.fullName == "" && t.Name != "" {
		t.fullName = t.Name
		switch t.Kind {
		case Struct, Union, Enum, Typedef:
			if t.entry != nil {
				t.fullName = t.entry.Prefix() + t.Name
				if t.Language() == "c++" {
					t.fullName = symbol.CanonicalName(t.fullName)
				}
			}
		case Integer, Char:
			t.fullName = shortNames.Replace(t.Name)
		}
	}
	return t.fullName
}

// shortNames turns gcc's names of types into GDB's.
var shortNames = strings.NewReplacer(
	"short int", "short", "short unsigned int", "unsigned short",
	"long long int", "long long", "long long unsigned int", "unsigned long long",
	"long int", "long", "long unsigned int", "unsigned long",
)

// String returns the type as C and C++ write it, as GDB's whatis does.
func (t *Type) String() string {
	var w typeWriter
	w.whole(t)
	return string(w.text)
}

// rawString returns the type as GDB writes it in each language.
func (t *Type) rawString() string {
	w := typeWriter{raw: true}
	w.whole(t)
	return string(w.text)
}

// typeWriter writes types: "const char *(*)[3]" has a base, a part before the name and a part
// behind it.
type typeWriter struct {
	text  []byte
	depth int
	raw   bool // like GDB, without the names that pointers have in Go
}

const maxTypeText = 1 << 14

func (w *typeWriter) put(s string) {
	if len(w.text) < maxTypeText {
		w.text = append(w.text, s...)
	}
}

// nested calls f, unless types are nested too deeply.
func (w *typeWriter) nested(f func()) {
	if w.depth++; w.depth <= maxNames && len(w.text) < maxTypeText {
		f()
	}
	w.depth--
}

func (w *typeWriter) whole(t *Type) {
	w.nested(func() {
		if t.Kind == Pointer && t.Name == "" && t.Elem().Language() == "rust" {
			w.put("*mut ")
			w.whole(t.Elem())
			return
		}
		if t.Kind == Pointer && t.Name == "" && t.Elem().Language() == "fortran" {
			w.put("PTR TO -> ( ")
			w.whole(t.Elem())
			w.put(" )")
			return
		}
		if t.Kind == Array && t.Name == "" && t.Language() == "rust" {
			w.put("[")
			w.whole(t.Elem())
			if b := t.Bounds(); b.Known {
				w.put("; " + strconv.FormatUint(b.Count, 10))
			}
			w.put("]")
			return
		}
		w.base(t)
		if u := t.Unqualified(); !w.named(u) {
			switch u.Kind {
			case Pointer, Reference, RvalueReference, MemberPointer, Function, Array:
				w.put(" ")
			}
		}
		w.before(t, false, false)
		w.behind(t, false)
	})
}

// isNamed reports whether a type, without its qualifiers, is written by its name.
func (t *Type) isNamed() bool { return t.Name != "" || t.Kind == Void }

func (w *typeWriter) named(t *Type) bool { return t.isNamed() && !(w.raw && t.Kind == Pointer) }

// base writes the innermost type that a type is made of: the char of "const char *(*)[3]".
func (w *typeWriter) base(t *Type) {
	for range maxNames {
		u := t.Unqualified()
		if w.named(u) {
			break
		}
		switch u.Kind {
		case Pointer, Reference, RvalueReference, MemberPointer, Function, Array:
			t = u.Elem()
			continue
		}
		break
	}
	constant, volatile := t.qualifiers()
	if constant {
		w.put("const ")
	}
	if volatile {
		w.put("volatile ")
	}
	u := t.Unqualified()
	switch {
	case u.Kind == Void:
		w.put("void")
	case w.named(u):
		if u.tagged() {
			w.put(u.keyword())
		}
		w.put(u.FullName())
	case u.Kind == Struct, u.Kind == Union, u.Kind == Enum:
		w.put(u.keyword())
		w.put("{...}")
	default:
		w.put("<unknown type>")
	}
}

// tagged reports whether C writes struct, union or enum before the name.
func (t *Type) tagged() bool {
	switch t.Kind {
	case Struct, Union, Enum:
		switch t.Language() {
		case "c", "objective-c", "asm", "minimal", "":
			return true
		}
	}
	return false
}

func (t *Type) keyword() string {
	switch {
	case t.Kind == Union:
		return "union "
	case t.Kind == Enum:
		return "enum "
	case t.Tag() == dwarf.TagClassType:
		return "class "
	}
	return "struct "
}

func (t *Type) qualifiers() (constant, volatile bool) {
	for range maxNames {
		switch t.Kind {
		case Const:
			constant = true
		case Volatile:
			volatile = true
		case Restrict, Atomic:
		default:
			return
		}
		t = t.Elem()
	}
	return
}

// before writes the part of a type that stands before a name. pointed says that a star or an
// ampersand follows.
func (w *typeWriter) before(t *Type, pointed, space bool) {
	u := t.Unqualified()
	if w.named(u) {
		return
	}
	switch u.Kind {
	case Pointer, Reference, RvalueReference:
		w.nested(func() { w.before(u.Elem(), true, true) })
		w.put(map[Kind]string{Pointer: "*", Reference: "&", RvalueReference: "&&"}[u.Kind])
		constant, volatile := t.qualifiers()
		if constant {
			w.put(" const")
		}
		if volatile {
			w.put(" volatile")
		}
		if space && (constant || volatile) {
			w.put(" ")
		}
	case MemberPointer:
		to := u.Elem().Unqualified()
		if !w.named(to) && to.Kind == Function {
			w.put("(")
		} else {
			w.nested(func() { w.before(to, false, false) })
		}
		if u.Class != nil {
			w.put(u.Class.FullName())
		}
		w.put("::*")
	case Function, Array:
		w.nested(func() { w.before(u.Elem(), false, space) })
		if pointed {
			w.put("(")
		}
	}
}

// behind writes the part of a type that stands behind a name.
func (w *typeWriter) behind(t *Type, pointed bool) {
	u := t.Unqualified()
	if w.named(u) {
		return
	}
	switch u.Kind {
	case Pointer, Reference, RvalueReference:
		w.nested(func() { w.behind(u.Elem(), true) })
	case MemberPointer:
		to := u.Elem().Unqualified()
		w.nested(func() { w.behind(to, !w.named(to) && to.Kind == Function) })
	case Function, Array:
		if pointed {
			w.put(")")
		}
		if u.Kind == Array {
			w.put("[")
			if b := u.Bounds(); b.Known {
				w.put(strconv.FormatUint(b.Count, 10))
			}
			w.put("]")
		} else {
			w.parameters(u)
		}
		w.nested(func() { w.behind(u.Elem(), false) })
	}
}

func (w *typeWriter) parameters(t *Type) {
	list, more := t.Parameters()
	w.put("(")
	for i, p := range list {
		if i > 0 {
			w.put(", ")
		}
		w.whole(p)
	}
	switch {
	case more && len(list) > 0:
		w.put(", ...")
	case more:
		w.put("...")
	case len(list) == 0 && t.unprototyped(list):
	case len(list) == 0:
		w.put("void")
	}
	w.put(")")
}
