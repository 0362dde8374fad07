package value

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// finder finds entries by their names, and keeps what it has found.
type finder struct {
	found map[findKey][]symbol.Hit
	spent [2]int // entries that were read: in searches for what is surely there, and in others
}

type findKey struct {
	unit       symbol.Ref     // search the unit of this entry; or
	of         symbol.Ref     // the file of this entry; or
	module     *target.Module // a module
	name, file string
	sure       bool
}

// The work of all searches of a Reader, in entries. A file with 500 MB of debug information has
// some 20 million, most of them within functions and classes, which searches skip. Where a name may
// be nowhere, less is spent.
const (
	searchSure  = 8 << 20
	searchMaybe = 1 << 20
	maxFound    = 1 << 12 // names that are kept
)

// find returns the entries of a name. If the work is spent, it returns none.
func (r *Reader) find(key findKey) []symbol.Hit {
	if list, ok := r.finder.found[key]; ok {
		return list
	}
	spent, most := &r.finder.spent[1], searchMaybe
	if key.sure || !key.unit.IsZero() {
		spent, most = &r.finder.spent[0], searchSure
	}
	left := most - *spent
	if left <= 0 {
		return nil
	}
	before := left
	search := symbol.Search{Name: key.name, File: key.file, Work: &left}
	var list []symbol.Hit
	switch {
	case !key.unit.IsZero():
		list, _ = search.InUnit(r.Symbols, key.unit)
	case !key.of.IsZero():
		list, _ = search.InFileOf(key.of)
	case key.module != nil:
		list, _ = search.InModule(r.Symbols, key.module)
	}
	*spent += before - left
	if r.finder.found == nil || len(r.finder.found) >= maxFound {
		r.finder.found = make(map[findKey][]symbol.Hit)
	}
	r.finder.found[key] = list
	return list
}

// inScope returns those hits that are in a scope.
func inScope(list []symbol.Hit, scope string, is func(tag dwarf.Tag) bool) (out []symbol.Hit) {
	scope = plainScope(scope)
	for _, h := range list {
		if is(h.Tag) && plainScope(h.Scope) == scope {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b symbol.Hit) int { // definitions first
		switch {
		case a.Declared == b.Declared:
			return 0
		case b.Declared:
			return -1
		}
		return 1
	})
	return out
}

// plainScope returns a scope without the namespaces that need not be written: namespaces without a
// name, and for the versions of C++'s libraries.
var plainScope = strings.NewReplacer("(anonymous namespace)::", "", "std::__cxx11::", "std::", "std::__1::", "std::", "{{anonymous}}::", "").Replace

// splitName splits a name at its last "::" outside of template arguments.
func splitName(name string) (scope, last string) {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case '>', ')':
			depth++
		case '<', '(':
			depth--
		case ':':
			if depth <= 0 && name[i-1] == ':' {
				return name[:i+1], name[i+1:]
			}
		}
	}
	return "", name
}

// prefixes returns the namespaces and classes around a function, from the inner to the outer, with
// "" at the end.
func prefixes(function string) (list []string) {
	name := function
	for i := 0; i < len(name); i++ { // without the parameters
		if name[i] == '(' && !strings.HasPrefix(name[i:], "(anonymous namespace)") && i > 0 && !strings.HasSuffix(name[:i], "operator") {
			name = name[:i]
			break
		}
	}
	for range maxNames {
		scope, _ := splitName(name)
		if scope == "" {
			break
		}
		list = append(list, scope)
		name = strings.TrimSuffix(scope, "::")
	}
	return append(list, "")
}

func isTypeTag(tag dwarf.Tag) bool {
	switch tag {
	case dwarf.TagBaseType, dwarf.TagTypedef, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagInterfaceType, dwarf.TagUnionType,
		dwarf.TagEnumerationType, dwarf.TagUnspecifiedType, dwarf.TagSubrangeType, dwarf.TagTemplateAlias:
		return true
	}
	return false
}

func isClassTag(tag dwarf.Tag) bool {
	return tag == dwarf.TagStructType || tag == dwarf.TagClassType || tag == dwarf.TagInterfaceType
}

func isValueTag(tag dwarf.Tag) bool {
	return tag == dwarf.TagVariable || tag == dwarf.TagSubprogram || tag == dwarf.TagEnumerator || tag == dwarf.TagConstant
}

// definition returns the definition of a type that t declares: of the same unit, file, or another
// module; nil if it is not found.
func (r *Reader) definition(t *Type) *Type {
	if t.Name == "" {
		return nil
	}
	scope := t.entry.Prefix()
	same := func(tag dwarf.Tag) bool { return tag == t.entry.Tag || isClassTag(tag) && isClassTag(t.entry.Tag) }
	try := func(key findKey) *Type {
		key.name, key.sure = t.Name, true
		for _, h := range inScope(r.find(key), scope, same) {
			if h.Declared {
				break
			}
			if d := r.typeFrom(t.entry, h.Ref); d.Kind == t.Kind && !d.Declared {
				return d
			}
		}
		return nil
	}
	if d := try(findKey{unit: t.entry.Ref}); d != nil {
		return d
	}
	if d := try(findKey{of: t.entry.File()}); d != nil {
		return d
	}
	for _, m := range r.Modules.All() {
		if d := try(findKey{module: m}); d != nil {
			return d
		}
	}
	return nil
}
