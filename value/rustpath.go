package value

import (
	"debug/dwarf"
	"fmt"
	"strings"
)

// rustPath returns the whole name that a path of Rust stands for in the frame's function, without a
// "::" before it. The path begins with self, super, crate or "::" (The Rust Reference, section
// "Paths"); ok is false for any other. wrong says in GDB's words what is wrong with the path.
func (e *evaluation) rustPath(path string) (whole string, ok bool, wrong string) {
	if e.f.Language != "rust" {
		return "", false, ""
	}
	if rest, ok := strings.CutPrefix(path, "::"); ok { // what another crate has, or with gdb, what this one has
		if first, _, _ := strings.Cut(rest, "::"); first == e.rustCrate() {
			return rest, true, ""
		}
		return e.rustCrate() + "::" + rest, true, ""
	}
	if rest, ok := strings.CutPrefix(path, "crate::"); ok {
		return e.rustCrate() + "::" + rest, true, ""
	}
	rest, self := strings.CutPrefix(path, "self::")
	if !self && !strings.HasPrefix(rest, "super::") {
		return "", false, ""
	}
	module := e.rustModule()
	in := module
	for {
		up, ok := strings.CutPrefix(rest, "super::")
		if !ok {
			return in + "::" + rest, true, ""
		}
		scope, _ := splitName(in)
		if scope == "" {
			return "", true, fmt.Sprintf("Too many super:: uses from \"%s\"", module)
		}
		in, rest = strings.TrimSuffix(scope, "::"), up
	}
}

// rustCrate returns the crate of the frame's function.
func (e *evaluation) rustCrate() string {
	crate, _, _ := strings.Cut(e.c.frame.Function, "::")
	return crate
}

// rustModule returns the path of the module that the frame's function is in. Types, their
// implementations, and functions around a closure are no modules.
func (e *evaluation) rustModule() string {
	for _, scope := range prefixes(e.c.frame.Function) {
		path := strings.TrimSuffix(scope, "::")
		outer, last := splitName(path)
		if last == "" {
			break
		}
		if strings.ContainsAny(last, "{<") {
			continue
		}
		hits := e.r.find(findKey{unit: e.unitRef(), name: last})
		if len(inScope(hits, outer, func(tag dwarf.Tag) bool { return isTypeTag(tag) || tag == dwarf.TagSubprogram })) == 0 {
			return path
		}
	}
	return e.rustCrate()
}
