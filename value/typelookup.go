package value

import (
	"debug/dwarf"
	"errors"
	"strings"

	syntax "github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/symbol"
)

// usual are types of C's library, for units that do not have them.
var usual = map[string]string{
	"size_t": "unsigned long", "ssize_t": "long", "intptr_t": "long", "uintptr_t": "unsigned long", "ptrdiff_t": "long",
	"int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long long",
	"off_t": "long", "time_t": "long", "pid_t": "int", "uid_t": "unsigned int", "gid_t": "unsigned int",
	"uint8_t": "unsigned char", "uint16_t": "unsigned short", "uint32_t": "unsigned int", "uint64_t": "unsigned long long",
}

// isType reports whether a name is a type, and not a variable that hides it.
func (e *evaluation) isType(name string) bool {
	if e.local(name) != nil {
		return false
	}
	if _, ok, _ := e.ofThis(name, 1); ok {
		return false
	}
	if t := e.typeCalled(name, nil); t != nil {
		return true
	}
	_, ok := usual[name]
	return ok
}

// isVariable reports whether a variable of the frame has a name, or one that is lent to the
// function.
func (e *evaluation) isVariable(name string) bool {
	if e.local(name) != nil {
		return true
	}
	if !strings.HasPrefix(e.f.Language, "fortran") {
		return false // a language that may be C: no other variable can have the name of a type's word
	}
	_, err := e.name(&syntax.Node{Kind: syntax.Name, At: 1, Text: name})
	return !errors.Is(err, ErrNotInScope)
}

// mayBeType reports whether a name is a type, or nothing.
func (e *evaluation) mayBeType(name string) bool {
	if e.isType(name) {
		return true
	}
	_, err := e.name(&syntax.Node{Kind: syntax.Name, At: 1, Text: name})
	return errors.Is(err, ErrNotInScope)
}

// typeNamed returns the type that is written in an expression.
func (e *evaluation) typeNamed(as *syntax.Type) (*Type, error) {
	words := strings.Fields(as.Name)
	var t *Type
	if e.f.Language == "rust" {
		t = e.r.rustBasic(as.Name)
	} else {
		t = e.r.basicOf(words)
	}
	if t == nil {
		tags := map[string]func(dwarf.Tag) bool{
			"struct": isClassTag, "class": isClassTag,
			"union": func(tag dwarf.Tag) bool { return tag == dwarf.TagUnionType },
			"enum":  func(tag dwarf.Tag) bool { return tag == dwarf.TagEnumerationType },
		}
		tag, rest, _ := strings.Cut(as.Name, " ")
		if is := tags[tag]; is != nil {
			if t = e.typeCalled(rest, is); t == nil {
				return nil, e.missing(as.At, "No %s type named %s.", tag, rest)
			}
		} else if t = e.typeCalled(as.Name, nil); t == nil {
			if t = e.r.basic(usual[as.Name]); t == nil {
				return nil, e.missing(as.At, "No symbol \"%s\" in current context.", as.Name)
			}
		}
	}
	return e.derive(t, as)
}

// typeCalled returns the type of a name; nil if there is none. is leaves only types of some tags,
// nil leaves types that need no tag before their name.
func (e *evaluation) typeCalled(name string, is func(dwarf.Tag) bool) *Type {
	if is == nil {
		is = isTypeTag
		switch e.f.Language {
		case "c", "objective-c", "asm", "minimal", "":
			is = func(tag dwarf.Tag) bool {
				return tag == dwarf.TagTypedef || tag == dwarf.TagBaseType || tag == dwarf.TagUnspecifiedType
			}
		}
	}
	whole, global, wrong := e.rustPath(name)
	if wrong != "" {
		return nil
	} else if global {
		name = whole
	} else {
		name, global = strings.CutPrefix(name, "::")
	}
	if !global && !strings.Contains(name, "::") {
		if t := e.localType(name, is); t != nil {
			return t
		}
	}
	names := e.wholeNames(name, global)
	search := func(find func(last string) []symbol.Hit) (declared *Type) {
		for _, full := range names {
			scope, last := splitName(full)
			for _, h := range inScope(find(last), scope, is) {
				t := e.r.typeAt(h.Ref)
				if !h.Declared {
					return t
				}
				if declared == nil {
					declared = t
				}
			}
		}
		return declared
	}
	var declared *Type
	if unit := e.unitRef(); !unit.IsZero() {
		declared = search(func(last string) []symbol.Hit { return e.r.find(findKey{unit: unit, name: last}) })
		if declared != nil && !declared.Declared {
			return declared
		}
	}
	for _, full := range names {
		scope, last := splitName(full)
		if scope == "" {
			continue
		}
		if class := e.typeCalledOutside(strings.TrimSuffix(scope, "::")); class != nil {
			if t := e.r.typeWithin(class.Strip(), last, is); t != nil {
				return t
			}
		}
	}
	if declared == nil && (len(e.r.Symbols.Named(e.r.Modules, e.module(), name)) > 0 || e.namesFunction(names)) {
		return nil // a variable or function, where the type is another unit's
	}
	for i, m := range e.modules() {
		t := search(func(last string) []symbol.Hit {
			return e.r.find(findKey{module: m, name: last, sure: i == 0 && declared != nil})
		})
		if t != nil && !t.Declared {
			return t
		}
		if declared == nil {
			declared = t
		}
	}
	return declared
}

// namesFunction reports whether the frame's unit, or its module, has a function of one of some
// whole names. A function of C++ has another name as a symbol.
func (e *evaluation) namesFunction(names []string) bool {
	if e.f.Language != "c++" {
		return false
	}
	is := func(tag dwarf.Tag) bool { return tag == dwarf.TagSubprogram }
	has := func(full string, key findKey) bool {
		var scope string
		scope, key.name = splitName(full)
		return len(inScope(e.r.find(key), scope, is)) > 0
	}
	unit := e.unitRef()
	for _, full := range names {
		if !unit.IsZero() && has(full, findKey{unit: unit}) || has(full, findKey{module: e.module()}) {
			return true
		}
	}
	return false
}

// typeCalledOutside returns the class around a type: of the unit, or of the file. The name is
// whole.
func (e *evaluation) typeCalledOutside(name string) *Type {
	scope, last := splitName(name)
	is := func(tag dwarf.Tag) bool {
		return isClassTag(tag) || tag == dwarf.TagUnionType || tag == dwarf.TagTypedef
	}
	if unit := e.unitRef(); !unit.IsZero() {
		for _, h := range inScope(e.r.find(findKey{unit: unit, name: last}), scope, is) {
			return e.r.typeAt(h.Ref)
		}
	}
	if scope != "" && strings.Count(scope, "::") < maxClasses {
		if class := e.typeCalledOutside(strings.TrimSuffix(scope, "::")); class != nil {
			return e.r.typeWithin(class.Strip(), last, is)
		}
	}
	return nil
}

// typeWithin returns a type that is declared in a class, or is a parameter of its template.
func (r *Reader) typeWithin(class *Type, name string, is func(dwarf.Tag) bool) *Type {
	if class.entry == nil {
		return nil
	}
	kids, err := class.entry.Children()
	if err != nil {
		return nil
	}
	return r.typeAmong(kids, name, is)
}

func (r *Reader) typeAmong(list []*symbol.Entry, name string, is func(dwarf.Tag) bool) *Type {
	for _, k := range list {
		switch {
		case is(k.Tag) && k.Text(dwarf.AttrName) == name:
			return r.typeAt(k.Ref)
		case k.Tag == dwarf.TagTemplateTypeParameter && k.Text(dwarf.AttrName) == name:
			return r.typeOf(k)
		}
	}
	return nil
}

// localType returns a type that is declared in the frame's function, or in the class of its object.
func (e *evaluation) localType(name string, is func(dwarf.Tag) bool) *Type {
	for i := len(e.c.scopes.list) - 1; i >= 0; i-- {
		s := &e.c.scopes.list[i]
		if kids, err := s.Children(); err == nil {
			if t := e.r.typeAmong(kids, name, is); t != nil {
				return t
			}
		}
		if origin := s.Reference(dwarf.AttrAbstractOrigin); !origin.IsZero() {
			if k, err := e.r.Symbols.Entry(origin); err == nil {
				if kids, err := k.Children(); err == nil {
					if t := e.r.typeAmong(kids, name, is); t != nil {
						return t
					}
				}
			}
		}
	}
	if this := e.local("this"); this != nil && this.Type.Strip().Kind == Pointer {
		return e.r.typeWithin(this.Type.Strip().Elem().Strip(), name, is)
	}
	return nil
}
