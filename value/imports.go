package value

import (
	"debug/dwarf"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
)

// lent says that the names of one scope are to be found in another one: C++'s using directives and
// declarations, aliases of namespaces, inline namespaces.
type lent struct {
	to     string // the scope that has the names now: "outer::", "" for the global one, inFunction
	name   string // of a declaration or an alias: the name there; "" if all names are lent
	from   string // the scope "lender::" or, of a declaration, the whole name of what is declared
	spaces bool   // a scope is lent, and not one name
}

// inFunction stands for the scopes within the frame's function.
const inFunction = "\x00"

// maxLent bounds what the scopes of a unit lend each other.
const maxLent = 1 << 14

// imports reads what the scopes of a unit lend each other.
type imports struct {
	r     *Reader
	names map[symbol.Ref]string // whole names of what is in namespaces; of a namespace with "::" behind
	open  []openImport
	// defined has the entries outside of classes that define what the others declare.
	defined map[symbol.Ref]symbol.Ref
	list    []lent
}

// openImport is an entry whose target may not have been read yet.
type openImport struct {
	lent
	target symbol.Ref
}

// unitImports returns what the scopes of the frame's unit lend each other.
func (e *evaluation) unitImports() *imports {
	unit := e.unitRef()
	if unit.IsZero() {
		return nil
	}
	return e.r.importsOf(unit)
}

// importsOf reads the unit that an entry is in.
func (r *Reader) importsOf(entry symbol.Ref) *imports {
	root := r.Symbols.UnitOf(entry)
	if i := r.imports[root]; i != nil {
		return i
	}
	i := &imports{r: r, names: make(map[symbol.Ref]string), defined: make(map[symbol.Ref]symbol.Ref)}
	if r.imports == nil || len(r.imports) >= maxUnits {
		r.imports = make(map[symbol.Ref]*imports)
	}
	r.imports[root] = i
	if k, err := r.Symbols.Entry(root); err == nil {
		i.scope(k, "", 0)
	}
	i.close()
	return i
}

// scope reads the entries of a namespace or of the unit.
func (i *imports) scope(k *symbol.Entry, prefix string, depth int) {
	kids, err := k.Children()
	if err != nil || depth > maxBases {
		return
	}
	for _, x := range kids {
		if len(i.names) >= maxUnitNames {
			return
		}
		name := x.Text(dwarf.AttrName)
		switch x.Tag {
		case dwarf.TagNamespace, dwarf.TagModule:
			if name == "" {
				name = "(anonymous namespace)"
			}
			full := prefix + name + "::"
			i.names[x.Ref] = full
			if x.Flag(dwarf.AttrExportSymbols) && len(i.list) < maxLent {
				i.list = append(i.list, lent{prefix, "", full, true})
			}
			i.scope(x, full, depth+1)
		case dwarf.TagImportedModule, dwarf.TagImportedDeclaration:
			i.note(x, prefix)
		case dwarf.TagVariable, dwarf.TagSubprogram, dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType,
			dwarf.TagTypedef, dwarf.TagBaseType:
			if name != "" {
				i.names[x.Ref] = prefix + name
			} else if of := x.Reference(dwarf.AttrSpecification); !of.IsZero() {
				i.defined[of] = x.Ref
				if name, ok := i.names[of]; ok {
					i.names[x.Ref] = name
				}
			}
		}
	}
}

// note notes the import of an entry into a scope.
func (i *imports) note(k *symbol.Entry, to string) {
	if len(i.open) < maxLent {
		l := lent{to: to, name: k.Text(dwarf.AttrName), spaces: k.Tag == dwarf.TagImportedModule}
		i.open = append(i.open, openImport{l, k.Reference(dwarf.AttrImport)})
	}
}

// close looks up the targets of all imports.
func (i *imports) close() {
	for _, o := range i.open {
		l, ok := o.lent, false
		if l.from, ok = i.names[o.target]; !ok {
			continue
		}
		if strings.HasSuffix(l.from, "::") {
			l.spaces = true
		} else if l.name == "" {
			_, l.name = splitName(l.from)
		}
		i.list = append(i.list, l)
	}
	i.open = nil
}

// functionImports returns what is lent to the blocks of the frame's function.
func (e *evaluation) functionImports(unit *imports) []lent {
	in := imports{r: e.r, names: unit.names}
	for k := len(e.c.scopes.list) - 1; k >= 0; k-- {
		s := &e.c.scopes.list[k]
		list := []*symbol.Entry{s.Entry}
		if origin := s.Reference(dwarf.AttrAbstractOrigin); !origin.IsZero() {
			if x, err := e.r.Symbols.Entry(origin); err == nil {
				list = append(list, x)
			}
		}
		for _, x := range list {
			kids, err := x.Children()
			if err != nil {
				continue
			}
			for _, k := range kids {
				if k.Tag == dwarf.TagImportedModule || k.Tag == dwarf.TagImportedDeclaration {
					in.note(k, inFunction)
				}
			}
		}
	}
	in.close()
	return in.list
}

// maxWays bounds the whole names that a name may stand for.
const maxWays = 256

// wholeNames returns the whole names that a name may stand for, the innermost scope's first.
func (e *evaluation) wholeNames(name string, global bool) (list []string) {
	if known, ok := e.whole[wholeKey{name, global}]; ok {
		return known
	}
	scopes := e.scopesOf(global)
	if e.f.Language == "c++" || e.f.Language == "fortran" {
		if unit := e.unitImports(); unit != nil {
			if !e.importsRead {
				e.importsRead = true
				e.imports = slices.Concat(e.functionImports(unit), unit.list)
			}
		}
	}
	if len(e.imports) == 0 {
		for _, prefix := range scopes {
			list = append(list, prefix+name)
		}
		return list
	}
	if !global {
		scopes = append([]string{inFunction}, scopes...)
	}
	parts := splitAll(name)
	for _, prefix := range scopes {
		for _, full := range e.ways(prefix, parts) {
			if !strings.HasPrefix(full, inFunction) && !slices.Contains(list, full) && len(list) < maxWays {
				list = append(list, full)
			}
		}
	}
	if e.whole == nil {
		e.whole = make(map[wholeKey][]string)
	}
	e.whole[wholeKey{name, global}] = list
	return list
}

type wholeKey struct {
	name   string
	global bool
}

// ways returns the whole names that the parts of a name may lead to from a scope.
func (e *evaluation) ways(scope string, parts []string) []string {
	at := []string{scope}
	for n, part := range parts {
		var next []string
		add := func(s string) {
			if len(next) < maxWays && !slices.Contains(next, s) {
				next = append(next, s)
			}
		}
		last := n == len(parts)-1
		end := "::"
		if last {
			end = ""
		}
		for _, s := range e.withLent(at) {
			add(s + part + end)
			for i := range e.imports {
				l := &e.imports[i]
				switch {
				case l.name != part || plainScope(l.to) != plainScope(s):
				case l.spaces && !last:
					add(l.from)
				case !l.spaces:
					add(l.from + end)
				}
			}
		}
		at = next
	}
	return at
}

// withLent returns scopes, and the scopes that lend them all their names.
func (e *evaluation) withLent(list []string) []string {
	for n := 0; n < len(list) && n < maxWays; n++ {
		for i := range e.imports {
			l := &e.imports[i]
			if l.name == "" && l.spaces && plainScope(l.to) == plainScope(list[n]) && !slices.Contains(list, l.from) {
				list = append(list, l.from)
			}
		}
	}
	return list
}

// splitAll splits a name at all its "::" outside of template arguments.
func splitAll(name string) (parts []string) {
	for range maxNames {
		scope, last := splitName(name)
		parts = append(parts, last)
		if scope == "" {
			break
		}
		name = strings.TrimSuffix(scope, "::")
	}
	slices.Reverse(parts)
	return parts
}
