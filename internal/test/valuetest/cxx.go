package valuetest

import (
	"fmt"
	"strings"
)

// A class is one of the program's classes.
type class struct {
	name    string
	typ     *typ
	virtual map[string]bool // the virtual classes among its bases
	plain   map[string]bool // itself and the others
}

// class writes a class. method, which may be empty, are members that it has besides; initial is the
// constructor's body.
func (g *generator) class(n int, method, initial string) class {
	c := class{name: g.name("class_"), virtual: map[string]bool{}, plain: map[string]bool{}}
	c.plain[c.name] = true
	direct := map[string]bool{}
	var bases []string
	for range g.r.IntN(4) {
		if len(g.classes) == 0 || n <= 0 {
			break
		}
		base := one(g, g.classes...)
		virtual := g.often(30)
		if direct[base.name] || c.has(base, virtual) {
			continue
		}
		direct[base.name] = true
		spelling := "public "
		for name := range base.virtual {
			c.virtual[name] = true
		}
		for name := range base.plain {
			if virtual && name == base.name {
				c.virtual[name] = true
			} else {
				c.plain[name] = true
			}
		}
		if virtual {
			spelling = "public virtual "
		} else if g.often(20) {
			spelling = "protected "
		}
		bases = append(bases, spelling+base.name)
	}
	var members []string
	for range g.r.IntN(4) {
		of := g.typ(n - 1)
		if of.flex || of.fixed && strings.Contains(of.declare("x"), "volatile") {
			continue
		}
		members = append(members, fmt.Sprintf("%s = %s", of.declare(g.name("m")), of.value()))
	}
	if g.often(15) {
		v := g.global(g.base())
		members = append(members, fmt.Sprintf("%s = %s", v.typ.declare("&"+g.name("r")), v.name))
	}
	if g.often(25) {
		members = append(members, fmt.Sprintf("inline static %s = %d", one(g, "int ", "long ", "const short ")+g.name("shared"), g.r.IntN(50)))
	}
	if g.often(30) {
		members = append(members, fmt.Sprintf("virtual long %s(int x) { return x; }\n\tint %s = 3", g.name("virtual"), g.name("m")))
	}
	if g.often(15) {
		members = append(members, fmt.Sprintf("struct nested_%s { int inner = 4; } %s", c.name, g.name("m")))
	}
	inherit := ""
	if len(bases) > 0 {
		inherit = " : " + strings.Join(bases, ", ")
	}
	body := ""
	if len(members) > 0 {
		body = "\t" + strings.Join(members, ";\n\t") + ";\n"
	}
	fmt.Fprintf(&g.out, "%s %s%s {\npublic:\n%s\tint seed_%s;\n\t%s(int seed = 7) : seed_%s(seed) { %s }\n%s};\n\n", one(g, "class", "struct"), c.name, inherit, body, c.name, c.name, c.name, initial, method)
	c.typ = named(c.name, object, func() string { return fmt.Sprintf("%s(%d)", c.name, g.r.IntN(100)) })
	c.typ.members = []string{"seed_" + c.name}
	g.classes = append(g.classes, c)
	return c
}

// has reports whether a further base would make another one ambiguous.
func (c *class) has(base class, virtual bool) bool {
	for name := range base.plain {
		if c.plain[name] || c.virtual[name] && !(virtual && name == base.name) {
			return true
		}
	}
	for name := range base.virtual {
		if c.plain[name] {
			return true
		}
	}
	return false
}

// cxxFunction is function for what only C++ has.
func (g *generator) cxxFunction(call caller) caller {
	name := g.name("function")
	p := g.parameters(g.r.IntN(4))
	switch g.r.IntN(10) {
	case 0, 1:
		qualifier := one(g, "", " const", "")
		text := g.body(call, p.numbers, 2)
		c := g.class(2, fmt.Sprintf("\tNOINLINE %slong %s(%s)%s\n\t{\n%s\t\treturn sink;\n\t}\n", one(g, "", "virtual "), name, p.declared(), qualifier, text), "")
		v := g.global(c.typ)
		return p.caller(v.name + "." + name)
	case 2:
		text := g.body(call, p.numbers, 2)
		c := g.class(2, fmt.Sprintf("\tNOINLINE static long %s(%s)\n\t{\n%s\t\treturn sink;\n\t}\n", name, p.declared(), text), "")
		return p.caller(c.name + "::" + name)
	case 3:
		return g.constructed(call, p)
	case 4:
		return g.lambda(call, name, p)
	case 5:
		return g.template(call, name)
	case 6:
		return g.caught(call, name, p)
	case 7:
		space := g.name("space")
		text := g.body(call, p.numbers, 1)
		inner := one(g, "", "namespace {", "inline namespace v1 {")
		end := strings.Repeat("}", strings.Count(inner, "{"))
		fmt.Fprintf(&g.out, "namespace %s { %s\nNOINLINE long %s(%s)\n{\n%s\treturn sink;\n}\n%s}\n\n", space, inner, name, p.declared(), text, end)
		return p.caller(space + "::" + name)
	case 8:
		c := g.class(2, "", "")
		text := g.body(call, nil, 1)
		op := one(g, "+", "==", "<<", "&&", "*=")
		v := g.global(c.typ)
		fmt.Fprintf(&g.out, "NOINLINE long operator%s(%s &left, int right)\n{\n%s\treturn sink;\n}\n\n", op, one(g, "", "const ")+c.name, text)
		return func(n number) string { return fmt.Sprintf("(%s %s %s)", v.name, op, n()) }
	default:
		text := g.pointers() + g.body(call, p.numbers, 1)
		fmt.Fprintf(&g.out, "NOINLINE long %s(%s)\n{\n%s\treturn sink;\n}\n\n", name, p.declared(), text)
		return p.caller(name)
	}
}

// pointers are locals that point to members, and other rare things.
func (g *generator) pointers() string {
	c := g.class(1, "\tint data_member = 5;\n\tNOINLINE long method(int x) { return x; }\n\tNOINLINE virtual long overridden(char c) const { return c; }\n", "")
	data, method, v := g.name("data"), g.name("method"), g.name("overridden")
	null, unset := g.name("null"), g.name("unset")
	text := fmt.Sprintf("\tint %s::*%s = &%s::data_member;\n\tkeep(&%s);\n", c.name, data, c.name, data)
	text += fmt.Sprintf("\tlong (%s::*%s)(int) = &%s::method;\n\tkeep(&%s);\n", c.name, method, c.name, method)
	text += fmt.Sprintf("\tlong (%s::*%s)(char) const = &%s::overridden;\n\tkeep(&%s);\n", c.name, v, c.name, v)
	text += fmt.Sprintf("\tstd::nullptr_t %s = nullptr;\n\tkeep(&%s);\n\tint %s::*%s = nullptr;\n\tkeep(&%s);\n", null, null, c.name, unset, unset)
	pair, first, second := g.name("pair"), g.name("first"), g.name("second")
	text += fmt.Sprintf("\tstruct { int a; short b[2]; } %s = {4, {5, 6}};\n\tauto &[%s, %s] = %s;\n\tkeep(&%s);\n\tkeep(&%s);\n", pair, first, second, pair, first, second)
	text += fmt.Sprintf("\tstatic constexpr int %s = 12;\n\tconstexpr long %s = 13;\n", g.name("fixed"), g.name("fixed"))
	return text
}

// constructed has the call in a constructor or a destructor.
func (g *generator) constructed(call caller, p *parameters) caller {
	if g.often(50) {
		text := g.body(call, nil, 2)
		c := g.class(2, "", "if (seed == -77) {\n"+text+"\t}")
		return func(number) string { return fmt.Sprintf("(long)%s(-77).seed_%s", c.name, c.name) }
	}
	text := g.body(call, nil, 2)
	gone := g.name("gone")
	// The destructor has a name that is not known yet: a member's does.
	c := g.class(2, fmt.Sprintf("\tstruct %s {\n\tint value = 3;\n\tNOINLINE ~%s()\n\t{\n%s\t}\n\t};\n", gone, gone, text), "")
	name := g.name("destroys")
	fmt.Fprintf(&g.out, "NOINLINE long %s(%s)\n{\n\t%s::%s object;\n\tkeep(&object);\n\treturn sink;\n}\n\n", name, p.declared(), c.name, gone)
	return p.caller(name)
}

func (g *generator) lambda(call caller, name string, p *parameters) caller {
	text := g.body(call, nil, 2)
	first, second := g.global(g.typ(1)), g.global(g.base())
	by := one(g, "=", "&", "&captured, copied", "captured, &copied", "=, renamed = copied + 1")
	if second.typ.kind != integer {
		by = strings.TrimSuffix(by, ", renamed = copied + 1")
	}
	fmt.Fprintf(&g.out, `NOINLINE long %s(%s)
{
	auto &original = %s;
	auto captured = original;
	auto copied = %s;
	auto lambda = [%s](int number) -> long {
		USED(captured);
		USED(copied);
%s		return sink;
	};
	keep(&lambda);
	return lambda(4) + 1;
}

`, name, p.declared(), first.name, second.name, by, text)
	return p.caller(name)
}

func (g *generator) template(call caller, name string) caller {
	text := g.body(call, nil, 1)
	v := g.global(g.typ(2))
	box := g.name("box_")
	fmt.Fprintf(&g.out, `template <typename T, int N> struct %s {
	T value;
	int numbers[N];
};
template <typename T, int N, bool B = true> NOINLINE long %s(T &value, const %s<T, N> *boxed)
{
	const int size = N;
	keep(&size);
%s	return sink;
}
decltype(%s) *pointed_%s = &%s;
%s<int, 3> *unset_%s;

`, box, name, box, text, v.name, name, v.name, box, box)
	if v.typ.kind == integer {
		value := g.global(named("int", integer, func() string { return "5" }))
		return func(number) string {
			return fmt.Sprintf("%s<int, 3>(%s, unset_%s)", name, value.name, box)
		}
	}
	return func(number) string {
		return fmt.Sprintf("%s<std::remove_reference_t<decltype(*pointed_%s)>, 2>(*pointed_%s, nullptr)", name, name, name)
	}
}

// caught has the call in a handler.
func (g *generator) caught(call caller, name string, p *parameters) caller {
	c := g.class(1, "", "")
	text := g.body(call, p.numbers, 2)
	what, thrown := one(g, "const "+c.name+" &caught", c.name+" &caught", "int caught", "const char *caught"), c.typ.value()
	switch {
	case strings.HasPrefix(what, "int"):
		thrown = "5 + zero"
	case strings.HasSuffix(what, "*caught"):
		thrown = "\"thrown\""
	}
	fmt.Fprintf(&g.out, `NOINLINE long %s(%s)
{
	int tried = zero;
	try {
		throw %s;
	} catch (%s) {
		keep(&caught);
		keep(&tried);
%s	}
	return sink;
}

`, name, p.declared(), thrown, what, text)
	return p.caller(name)
}
