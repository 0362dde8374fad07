package value

import (
	"fmt"
	"strings"
)

// basePaths returns the ways that lead from a class to its bases of a name. Two ways to one virtual
// base count as one.
func basePaths(t *Type, name string, depth int) [][]*Field {
	return distinct(pathsTo(t, depth, func(t *Type) []*Field {
		if t.FullName() == name || t.Name == name {
			return []*Field{}
		}
		return nil
	}))
}

// memberPaths returns the ways that lead from a class to its members of a name. A member hides
// members of the same name in the bases of its class.
func memberPaths(t *Type, name string, depth int) [][]*Field {
	return distinct(pathsTo(t, depth, func(t *Type) []*Field { return ownPath(t, name, 0) }))
}

// ownPath returns the fields that lead to a member of a class itself, through members without a
// name; nil if it has none.
func ownPath(t *Type, name string, depth int) []*Field {
	if depth > maxClasses || t.Kind != Struct && t.Kind != Union {
		return nil
	}
	fields := t.Fields()
	for i := range fields {
		f := &fields[i]
		if f.Base {
			continue
		}
		if f.Name == name && name != "" {
			return []*Field{f}
		}
		if f.Name == "" && !f.Static {
			if path := ownPath(f.Type.Strip(), name, depth+1); path != nil {
				return append([]*Field{f}, path...)
			}
		}
	}
	return nil
}

// maxPaths bounds the ways to a base.
const maxPaths = 64

// pathsTo returns the ways from a class to what is returns of it or of its bases. It does not look
// behind what is finds.
func pathsTo(t *Type, depth int, is func(t *Type) []*Field) (list [][]*Field) {
	if depth > maxClasses || t.Kind != Struct && t.Kind != Union {
		return nil
	}
	if path := is(t); path != nil {
		return [][]*Field{path}
	}
	fields := t.Fields()
	for i := range fields {
		f := &fields[i]
		if !f.Base {
			continue
		}
		for _, path := range pathsTo(f.Type.Strip(), depth+1, is) {
			if len(list) < maxPaths {
				list = append(list, append([]*Field{f}, path...))
			}
		}
	}
	return list
}

// distinct leaves one of the ways that lead to the same place of an object, or to the same static
// member.
func distinct(list [][]*Field) (out [][]*Field) {
	if len(list) < 2 {
		return list
	}
	seen := make(map[string]bool)
	for _, path := range list {
		base, offset, static := "", int64(0), false
		for _, f := range path {
			if f.Virtual {
				base, offset = f.Type.Strip().FullName(), 0
			} else {
				offset += f.Offset
			}
			static = static || f.Static
		}
		key := fmt.Sprintf("%s+%d", base, offset)
		if last := path[max(0, len(path)-1)]; static {
			key = fmt.Sprintf("%p", last)
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, path)
		}
	}
	return out
}

// ambiguous says, as GDB does, that several bases of a class have a member.
func ambiguous(t *Type, name string, paths [][]*Field) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Request for member '%s' is ambiguous in type '%s'. Candidates are:", name, t.FullName())
	for _, path := range paths {
		owner, way := t, t.FullName()
		for _, f := range path {
			if f.Base {
				owner = f.Type.Strip()
				way += " -> " + owner.FullName()
			}
		}
		fmt.Fprintf(&b, " '%s %s::%s' (%s)", path[len(path)-1].Type, owner.FullName(), name, way)
	}
	return b.String()
}
