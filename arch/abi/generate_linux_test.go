package abi_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes C: types, and functions of them that tell what they were given.
type generator struct {
	*rand.Rand
	defs    strings.Builder
	types   int
	scalars []string
	vectors []string // of all sizes
	floats  [][]string
	rigid   bool // no arrays are flexible
	long    int  // bits of a long
}

// newGenerator returns a generator of the types that a processor's compiler has.
func newGenerator(m *machine, seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), long: 8 * m.PtrSize}
	g.scalars = []string{
		"char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
		"_Bool", "enum e", "void *", "float", "double", "long double", "__int128", "unsigned __int128",
		"_Complex float", "_Complex double", "_Complex long double", "_Complex int", "_Complex char", "float", "double", "long", "int",
	}
	g.vectors = []string{"v4qi", "v8qi", "v2sf", "v16qi", "v4sf", "v2df", "v2di", "v4df"}
	g.floats = [][]string{{"float", "_Complex float"}, {"double", "_Complex double"}, {"long double", "_Complex long double"}, {"v2sf", "v8qi"}, {"v4sf", "v2di"}}
	if m.PtrSize == 4 {
		g.scalars = slices.DeleteFunc(g.scalars, func(t string) bool { return strings.Contains(t, "int128") })
		g.scalars = append(g.scalars, "long long", "unsigned long long")
		g.vectors = slices.DeleteFunc(g.vectors, func(t string) bool { return t == "v8qi" || t == "v2sf" })
	}
	g.scalars = append(g.scalars, m.floats...)
	for _, t := range m.floats {
		g.floats = append(g.floats, []string{t})
	}
	g.defs.WriteString(`enum e { E0, E1 };
typedef char v4qi __attribute__((vector_size(4)));
typedef char v8qi __attribute__((vector_size(8)));
typedef float v2sf __attribute__((vector_size(8)));
typedef char v16qi __attribute__((vector_size(16)));
typedef float v4sf __attribute__((vector_size(16)));
typedef double v2df __attribute__((vector_size(16)));
typedef long v2di __attribute__((vector_size(16)));
typedef double v4df __attribute__((vector_size(32)));
typedef double v8df __attribute__((vector_size(64)));
typedef char v64qi __attribute__((vector_size(64)));
`)
	return g
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

// value returns the name of a type.
func (g *generator) value() string {
	switch n := g.IntN(20); {
	case n < 9:
		return g.pick(g.scalars)
	case n < 11:
		return g.pick(g.vectors)
	}
	return g.aggregate(2)
}

// argument returns the name of a parameter's type. Some functions take much of one kind, so that
// its registers do not suffice.
func (g *generator) argument(much int) string {
	switch much {
	case 0:
		return [...]func() string{
			func() string { return g.pick([]string{"float", "double"}) },
			func() string { return g.form(0, 0) },
			func() string { return g.form(7, 0) },
		}[g.IntN(3)]()
	case 1:
		return g.pick([]string{"int", "long", "short", g.pick(g.scalars), g.form(1, 0), g.form(9, 0), g.form(6, 0)})
	case 2:
		return g.pick(append([]string{"int", g.form(7, 0)}, g.vectors...))
	}
	return g.value()
}

// aggregate defines a struct or union, nested at most depth levels deeper, and returns its name.
func (g *generator) aggregate(depth int) string { return g.form(g.IntN(forms), depth) }

// forms is how many forms of structs there are.
const forms = 14

// form defines a struct or union of a form.
func (g *generator) form(form, depth int) string {
	kind, body, suffix := "struct", "", ""
	member := func(decl string) { body += fmt.Sprintf("\t"+decl+";\n", fmt.Sprintf("m%d", strings.Count(body, "\n"))) }
	if form == 10 && (depth < 2 || g.rigid) {
		form = 9 // a flexible array is in no other struct
	}
	switch form {
	case 0: // homogeneous
		of := g.floats[g.IntN(len(g.floats))]
		for range 1 + g.IntN(4) {
			member(g.pick(of) + " %s" + g.pick([]string{"", "", "", "[2]"}))
		}
	case 1: // bytes
		member("unsigned char %s[" + fmt.Sprint(1+g.IntN(20)) + "]")
	case 2: // bit-fields
		for range 1 + g.IntN(6) {
			t := []string{"int", "unsigned", "long", "unsigned char", "short"}[g.IntN(5)]
			width := map[string]int{"int": 32, "unsigned": 32, "long": g.long, "unsigned char": 8, "short": 16}[t]
			member(fmt.Sprintf("%s %%s : %d", t, 1+g.IntN(width)))
		}
		if g.IntN(2) == 0 {
			member(g.pick([]string{"float", "double", "char", "long"}) + " %s")
		}
	case 3:
		kind = "union"
		for range 1 + g.IntN(3) {
			member(g.member(depth) + " %s")
		}
	case 4:
		suffix = " __attribute__((packed))"
		for range 1 + g.IntN(4) {
			member(g.pick([]string{"char", "short", "int", "long", "float", "double"}) + " %s")
		}
	case 5: // aligned
		suffix = fmt.Sprintf(" __attribute__((aligned(%d)))", 8<<g.IntN(3))
		for range 1 + g.IntN(2) {
			member(g.pick([]string{"char", "int", "long", "float", "double"}) + " %s")
		}
	case 6: // a member that is aligned
		member(g.pick([]string{"char", "int", "long", "float"}) + " %s __attribute__((aligned(16)))")
		member(g.pick([]string{"char", "int", "long", "float"}) + " %s")
	case 7: // one member, in a struct of its own
		inner := g.pick([]string{"float", "double", "v16qi", "v2sf", "char", "int", "float"})
		if depth > 0 && g.IntN(2) == 0 {
			inner = g.aggregate(0)
		}
		member(inner + " %s" + g.pick([]string{"", "", "[1]"}))
	case 8: // empty
		if g.IntN(3) == 0 {
			member("struct { } %s")
			member(g.pick([]string{"float", "double", "long"}) + " %s")
		}
	case 9: // two of one or two kinds: pairs of registers
		for range 2 {
			member(g.pick([]string{"long", "double", "float", "int", "void *", "v2sf"}) + " %s")
		}
	case 10: // a flexible array
		member(g.pick([]string{"long", "double", "int"}) + " %s")
		member(g.pick([]string{"long", "double", "char"}) + " %s[]")
	case 11: // the x87's numbers beside others
		kind = "union"
		member("long double %s")
		member(g.pick([]string{"long", "double", "char"}) + " %s" + g.pick([]string{"", "", "[2]"}))
	default:
		for range 1 + g.IntN(5) {
			member(g.member(depth) + " %s" + g.pick([]string{"", "", "", "[1]", "[2]", "[3]"}))
		}
	}
	name := fmt.Sprintf("%s t%d", kind, g.types)
	g.types++
	fmt.Fprintf(&g.defs, "%s {\n%s}%s;\n", name, body, suffix)
	return name
}

// member returns the type of a member.
func (g *generator) member(depth int) string {
	if depth > 0 && g.IntN(3) == 0 {
		return g.aggregate(depth - 1)
	}
	if g.IntN(8) == 0 {
		return g.pick(g.vectors)
	}
	return g.pick(g.scalars)
}

// function writes a function case_N, and proto_N with the types of all arguments.
func (g *generator) function(n int) {
	result := "void"
	if g.IntN(10) > 0 {
		result = g.value()
	}
	var types []string
	much := g.IntN(9)
	for range g.IntN(g.IntN(14) + 1 + max(0, 12-4*much)) {
		types = append(types, g.argument(much))
	}
	named, oldStyle := len(types), false
	switch g.IntN(8) {
	case 0:
		if len(types) > 0 {
			named = 1 + g.IntN(len(types))
		}
	case 1:
		oldStyle = true
	}
	var all, params, old, body []string
	for i, t := range types {
		all = append(all, fmt.Sprintf("%s a%d", t, i))
		if i < named {
			params = append(params, fmt.Sprintf("%s a%d", t, i))
			old = append(old, fmt.Sprintf("a%d", i))
		} else {
			body = append(body, fmt.Sprintf("%s a%d = va_arg(ap, %s);", t, i, promoted(t)))
		}
		body = append(body, fmt.Sprintf("PUT(a%d);", i))
	}
	if named < len(types) {
		params = append(params, "...")
		body = append([]string{fmt.Sprintf("va_list ap; va_start(ap, a%d);", named-1)}, body...)
	}
	head := fmt.Sprintf("%s case_%d(%s)", result, n, strings.Join(params, ", "))
	if oldStyle && named == len(types) {
		head = fmt.Sprintf("%s case_%d(%s)", result, n, strings.Join(old, ", "))
		for _, p := range params {
			head += " " + p + ";"
		}
	} else if len(params) == 0 {
		head = fmt.Sprintf("%s case_%d(void)", result, n)
	}
	if result != "void" {
		body = append(body, result+" r; RESULT(r); return r;")
	}
	fmt.Fprintf(&g.defs, "%s\n{\n\t%s\n}\nvoid proto_%d(%s) { }\n", head, strings.Join(body, "\n\t"), n, strings.Join(all, ", "))
}

// promoted returns the type with which an argument of type t is passed where no parameter is
// declared.
func promoted(t string) string {
	switch t {
	case "float":
		return "double"
	case "char", "signed char", "unsigned char", "short", "unsigned short", "_Bool":
		return "int"
	}
	return t
}
