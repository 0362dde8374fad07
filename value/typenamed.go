package value

import (
	"debug/dwarf"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
)

// arguments returns the arguments of the template that a type of C++ is made of. GCC leaves them
// out of some types' debug information: then they are told from the type's name, and the types of
// that name in the same unit.
func (t *Type) arguments() []TemplateArgument {
	p := t.read()
	if len(p.arguments) > 0 || p.named || t.entry == nil || strings.IndexByte(t.Name, '<') < 0 {
		return p.arguments
	}
	p.named = true
	_, names := symbol.SplitTemplate(t.FullName())
	list := make([]TemplateArgument, 0, len(names))
	for _, name := range names {
		a := TemplateArgument{}
		if n, err := strconv.ParseInt(strings.TrimRight(name, "ul"), 0, 64); err == nil {
			a.Value = &n
		} else if name == "true" || name == "false" {
			if name == "true" {
				n = 1
			}
			a.Value = &n
		}
		if a.Type = t.r.unknown(); a.Value == nil {
			if of := t.r.TypeNamed(name, t); of != nil {
				a.Type = of
			}
		}
		list = append(list, a)
	}
	p.arguments = list
	return list
}

// spaceless returns a text without its blanks.
func spaceless(s string) string { return strings.ReplaceAll(s, " ", "") }

// TypeNamed returns a type by its name as GDB spells it: one of the unit of near, or made of one.
// It is nil if there is none.
func (r *Reader) TypeNamed(name string, near *Type) *Type {
	base, behind := name, ""
	if i := strings.LastIndexByte(name, '>'); i >= 0 {
		base, behind = name[:i+1], name[i+1:]
	} else if i := strings.IndexAny(name, "*&(["); i >= 0 {
		base, behind = name[:i], name[i:]
	}
	for _, q := range [...]string{" volatile", " const"} {
		if b, ok := strings.CutSuffix(base, q); ok {
			base, behind = b, q+behind
		}
	}
	ref, ok := r.unitNames(near)[spaceless(base)]
	if !ok {
		return nil
	}
	t := r.typeAt(ref)
	for behind = strings.TrimSpace(behind); behind != ""; behind = strings.TrimSpace(behind) {
		kind, length := Pointer, 1
		switch {
		case strings.HasPrefix(behind, "const"):
			kind, length = Const, 5
		case strings.HasPrefix(behind, "volatile"):
			kind, length = Volatile, 8
		case strings.HasPrefix(behind, "&&"):
			kind, length = RvalueReference, 2
		case behind[0] == '&':
			kind = Reference
		case behind[0] != '*':
			return nil
		}
		of := t
		t = &Type{Kind: kind, r: r, elem: of, elemRead: true, entry: near.entry}
		switch kind {
		case Pointer, Reference, RvalueReference:
			t.Size = uint64(r.Arch.PtrSize)
		}
		behind = behind[length:]
	}
	return t
}

// maxUnitNames bounds the types of a unit that are known by name, and maxUnits the units whose
// types are.
const (
	maxUnitNames = 1 << 16
	maxUnits     = 64
)

// unitNames returns the types of the unit of a type, by their names without blanks: those in
// namespaces, not those in classes.
func (r *Reader) unitNames(near *Type) map[string]symbol.Ref {
	unit, err := near.entry.Unit()
	if err != nil {
		return nil
	}
	if names := r.unitTypes[unit.Ref]; names != nil {
		return names
	}
	if r.unitTypes == nil || len(r.unitTypes) >= maxUnits {
		r.unitTypes = make(map[symbol.Ref]map[string]symbol.Ref)
	}
	names := make(map[string]symbol.Ref)
	r.unitTypes[unit.Ref] = names
	r.addNames(names, unit, "", 0)
	return names
}

func (r *Reader) addNames(names map[string]symbol.Ref, scope *symbol.Entry, prefix string, depth int) {
	list, err := scope.Children()
	if err != nil || depth > maxBases {
		return
	}
	for _, e := range list {
		if len(names) >= maxUnitNames {
			return
		}
		name := e.Text(dwarf.AttrName)
		switch e.Tag {
		case dwarf.TagNamespace:
			if name == "" {
				name = "(anonymous namespace)"
			}
			r.addNames(names, e, prefix+name+"::", depth+1)
			continue
		case dwarf.TagBaseType:
			name = shortNames.Replace(name)
		case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType, dwarf.TagTypedef:
			name = symbol.CanonicalName(prefix + name)
		default:
			continue
		}
		key := spaceless(name)
		if _, known := names[key]; known && e.Flag(dwarf.AttrDeclaration) {
			continue
		}
		names[key] = e.Ref
	}
}
