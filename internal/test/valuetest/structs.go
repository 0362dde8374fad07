package valuetest

import (
	"fmt"
	"strings"
)

// structure is a struct, with bit-fields, anonymous members, nested structs, a flexible array.
func (g *generator) structure(n int) *typ {
	name := g.name("struct_")
	body, values, integers := g.members(n)
	if g.often(12) {
		body = append(body, g.flexible())
		values = append(values, "")
	}
	flex := len(values) > 0 && values[len(values)-1] == ""
	if flex {
		values = values[:len(values)-1]
		integers = nil
	}
	fmt.Fprintf(&g.out, "struct %s {\n\t%s;\n};\n", name, strings.Join(body, ";\n\t"))
	t := named("struct "+name, object, nil)
	t.members, t.flex = integers, flex
	t.value = func() string {
		return "{" + strings.Join(values, ", ") + "}"
	}
	return t
}

// flexible is a last member without a size of its own.
func (g *generator) flexible() string {
	return one(g, "int flexible[]", "char flexible[]", "struct { short a; char b; } flexible[0]")
}

// members returns the declarations of a struct's members, their initializers and the names of the
// members that are integers.
func (g *generator) members(n int) (body, values, integers []string) {
	for range 1 + g.r.IntN(5) {
		member := g.name("m")
		switch choice := g.r.IntN(100); {
		case choice < 18:
			bits := 1 + g.r.IntN(7)
			base := one(g, "unsigned int", "int", "unsigned char", "long", "bool", "unsigned long long", "short", "char")
			if base == "bool" {
				bits = 1
			} else if strings.Contains(base, "long") {
				bits += 30
			}
			width := fmt.Sprint(bits)
			if base == "long" {
				width = fmt.Sprintf("LONG_BITS(%d)", bits)
			}
			body = append(body, fmt.Sprintf("%s %s : %s", base, member, width))
			values = append(values, fmt.Sprint(g.r.IntN(1<<min(bits-1, 6))))
			integers = append(integers, member)
			if g.often(20) {
				body = append(body, fmt.Sprintf("int : %d", g.r.IntN(9)))
			}
		case choice < 26 && n > 0:
			inner, v := g.trivial(n - 1)
			if len(v) == 0 {
				continue
			}
			keyword := one(g, "struct", "union", "struct")
			if keyword == "union" {
				v = v[:1]
			}
			of := one(g, "", member, member+"[2]")
			value := "{" + strings.Join(v, ", ") + "}"
			if strings.HasSuffix(of, "]") {
				value = "{" + value + "}"
			}
			body = append(body, fmt.Sprintf("%s { %s; } %s", keyword, strings.Join(inner, "; "), of))
			values = append(values, value)
		default:
			of := g.typ(n - 1)
			if of.flex {
				continue
			}
			if of.fixed && g.often(70) {
				of = g.base()
			}
			body = append(body, of.declare(member))
			values = append(values, of.value())
			if of.kind == integer {
				integers = append(integers, member)
			}
		}
	}
	if len(values) == 0 {
		return []string{"int none"}, []string{"0"}, []string{"none"}
	}
	return body, values, integers
}

// trivial is members without classes, as a union and a nameless struct need them.
func (g *generator) trivial(n int) (body, values []string) {
	defer func(was bool) { g.plain = was }(g.plain)
	g.plain = true
	body, values, _ = g.members(n)
	return body, values
}

func (g *generator) union(n int) *typ {
	name := g.name("union_")
	body, values := g.trivial(n - 1)
	methods := ""
	if g.cxx {
		methods = "long method() const { return sink; } "
	}
	fmt.Fprintf(&g.out, "union %s { %s; %s};\n", name, strings.Join(body, "; "), methods)
	t := named("union "+name, object, func() string { return "{" + values[0] + "}" })
	return t
}
