package rust

import (
	"debug/dwarf"
	"strings"

	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/value"
)

// functionName returns the name of an async function or block by its type's:
// "server::handle::{async_fn_env#0}" is of server::handle.
func (r *program) functionName(t *value.Type) string {
	full := t.FullName()
	scope := strings.TrimSuffix(full[:len(full)-len(t.Name)], "::")
	own := plain(t.Name)
	kind, number, _ := strings.Cut(own, "_env#")
	if strings.Contains(scope, "{impl#") { // the entry of its code has the type's name
		if name := r.linkedName(scope + "::" + strings.Replace(t.Name, "_env#", "#", 1)); name != "" {
			scope = method(name)
		}
	}
	if kind == "{async_fn" {
		return plain(scope)
	}
	return plain(scope) + "::" + kind + "#" + number
}

// method returns the name of a trait's method without the trait: "a::B::c" of "<a::B as d::E>::c".
func method(name string) string {
	if !strings.HasPrefix(name, "<") {
		return name
	}
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				of, _, _ := strings.Cut(name[1:i], " as ")
				return of + name[i+1:]
			}
		}
	}
	return name
}

// Bounds of the search for the linker's names of async functions.
const (
	mostSought = 1 << 25 // entries that are looked through
	mostBodies = 1 << 16 // async functions
)

// linkedName returns the name of a function by its linker's name, which has the type of whose it
// is: debug information calls the place of a method "{impl#3}". body is the name of the async
// function's body in debug information. The result is "" if it is not known.
func (r *program) linkedName(body string) string {
	if r.bodies == nil {
		r.bodies = r.findBodies()
	}
	e, err := r.symbols.Entry(r.bodies[body])
	if err != nil {
		return ""
	}
	for _, e := range r.origins(e) {
		text := symbol.Demangle(e.Text(dwarf.AttrLinkageName))
		for _, suffix := range [...]string{"::{{closure}}", "::{closure#0}"} {
			if name, ok := strings.CutSuffix(text, suffix); ok {
				return name
			}
		}
	}
	return ""
}

// findBodies finds the bodies of the async functions of methods.
func (r *program) findBodies() map[string]symbol.Ref {
	work := mostSought
	s := symbol.Search{Name: "{async_", Begins: true, Tag: dwarf.TagSubprogram, Most: mostBodies, Work: &work}
	hits, _ := s.InModule(r.symbols, r.module) // what can be read counts
	bodies := make(map[string]symbol.Ref, len(hits))
	for _, h := range hits {
		if !strings.Contains(h.Scope, "{impl#") {
			continue
		}
		if e, err := r.symbols.Entry(h.Ref); err == nil {
			bodies[h.Scope+e.Text(dwarf.AttrName)] = h.Ref
		}
	}
	return bodies
}
