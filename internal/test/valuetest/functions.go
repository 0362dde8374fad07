package valuetest

import (
	"fmt"
	"slices"
	"strings"
)

// function writes a function, or two, in which call stands, and returns how it is called.
func (g *generator) function(call caller) caller {
	g.frames++
	if g.cxx && g.often(60) {
		return g.cxxFunction(call)
	}
	switch choice := g.r.IntN(100); {
	case choice < 12:
		return g.recursive(call)
	case choice < 24:
		return g.inlined(call)
	case choice < 34:
		return g.tail(call)
	case choice < 46:
		return g.variable(call)
	}
	name := g.name("plain")
	p := g.parameters(g.r.IntN(6))
	text := g.body(call, p.numbers, 1)
	fmt.Fprintf(&g.out, "NOINLINE long %s(%s)\n{\n%s\treturn sink;\n}\n\n", name, p.declared(), text)
	return p.caller(name)
}

// parameters are the parameters of one function.
type parameters struct {
	g       *generator
	list    []variable
	values  []func(number) string // the arguments of a call
	numbers []string              // names of parameters that are integers
}

func (g *generator) parameters(n int) *parameters {
	p := &parameters{g: g}
	for range n {
		if g.often(25) {
			name := g.name("n")
			p.add(name, named("int", integer, nil), func(n number) string { return n() })
			p.numbers = append(p.numbers, name)
			continue
		}
		t := g.typ(2)
		for t.kind == array || t.flex {
			t = g.typ(2)
		}
		var value string
		switch v := g.global(t); {
		case g.cxx && g.often(25):
			value = v.name
			inner := t
			t = &typ{kind: scalar, declare: func(d string) string { return inner.declare("&" + d) }}
		case t.kind <= scalar && g.often(30) && !strings.HasPrefix(t.declare(""), "vector") && !strings.HasPrefix(t.declare(""), "const vector"):
			value = t.value()
		default:
			value = v.name
		}
		p.add(g.name("p"), t, func(number) string { return value })
	}
	return p
}

func (p *parameters) add(name string, t *typ, value func(number) string) {
	p.list = append(p.list, variable{name, t})
	p.values = append(p.values, value)
}

func (p *parameters) declared() string {
	var list []string
	for _, v := range p.list {
		list = append(list, v.typ.declare(v.name))
	}
	if len(list) == 0 && !p.g.cxx {
		return "void"
	}
	return strings.Join(list, ", ")
}

func (p *parameters) arguments(n number) string {
	var list []string
	for _, v := range p.values {
		list = append(list, v(n))
	}
	return strings.Join(list, ", ")
}

func (p *parameters) caller(name string) caller {
	return func(n number) string { return name + "(" + p.arguments(n) + ")" }
}

// body returns a block's statements: variables, blocks in it, and the call.
func (g *generator) body(call caller, numbers []string, indent int, shadowed ...string) string {
	tabs := strings.Repeat("\t", indent)
	var before, after strings.Builder
	line := func(b *strings.Builder, format string, args ...any) {
		b.WriteString(tabs)
		fmt.Fprintf(b, format, args...)
		b.WriteString("\n")
	}
	var names []string
	for range g.r.IntN(7) {
		t := g.typ(3)
		name := g.name("v")
		if len(shadowed) > 0 && g.often(30) {
			if other := one(g, shadowed...); !strings.Contains(strings.Join(names, " ")+" ", other+" ") {
				name = other
				numbers = slices.DeleteFunc(slices.Clone(numbers), func(n string) bool { return n == name })
			}
		}
		names = append(names, name)
		storage := ""
		switch {
		case t.flex:
			storage = "static "
		case g.often(8):
			storage = "static "
		case g.often(5):
			storage = "static THREAD "
		case g.often(3):
			storage = "volatile "
			if t.kind >= object || t.fixed || strings.Contains(t.declare("x"), "(") {
				storage = ""
			}
		}
		if g.cxx && g.often(12) && !t.flex {
			v := g.global(t)
			ref := one(g, "&", "&", "&&")
			from := v.name
			if ref == "&&" {
				from = "std::move(" + from + ")"
			}
			if t.kind == array {
				line(&before, "%s = %s;", t.declare("("+ref+name+")"), from)
			} else {
				line(&before, "%s = %s;", t.declare(ref+name), from)
			}
		} else {
			line(&before, "%s%s = %s;", storage, t.declare(name), t.value())
		}
		if t.kind == integer && !t.fixed && g.often(40) {
			line(&before, "%s += zero;", name)
		}
		if t.kind == integer && t.declare("") == "int" {
			numbers = append(numbers, name)
		}
		g.use(t, name, &before, &after, line)
	}
	if g.often(35) && indent < 5 {
		line(&before, "{")
		before.WriteString(g.body(call, numbers, indent+1, append(shadowed, names...)...))
		line(&before, "}")
	} else {
		line(&before, "sink += %s;", call(g.number(numbers...)))
	}
	return before.String() + after.String()
}

// use writes how a variable is used before and behind the call, which decides on where compilers
// keep it.
func (g *generator) use(t *typ, name string, before, after *strings.Builder, line func(*strings.Builder, string, ...any)) {
	switch choice := g.r.IntN(100); {
	case choice < 25:
		line(before, "keep(&%s);", name)
	case choice < 45:
		line(after, "USED(%s);", name)
	case choice < 60 && t.kind == integer:
		line(after, "NUMBER(%s);", name)
	case choice < 75 && len(t.members) > 0:
		line(after, "sink += (long)%s.%s;", name, one(g, t.members...))
	case choice < 80:
		line(before, "USED(%s);", name)
	default:
		line(after, "LOST(%s);", name)
	}
}

// recursive is a function that calls itself some times.
func (g *generator) recursive(call caller) caller {
	name := g.name("again")
	p := g.parameters(1 + g.r.IntN(3))
	var arguments []string
	for _, v := range p.list {
		arguments = append(arguments, v.name)
	}
	times := 2 + g.r.IntN(3)
	text := g.body(func(n number) string {
		return fmt.Sprintf("(left > 0 ? %s(left - 1, %s) : %s)", name, strings.Join(arguments, ", "), call(n))
	}, append(p.numbers, "left"), 1)
	fmt.Fprintf(&g.out, "NOINLINE long %s(int left, %s)\n{\n%s\treturn sink;\n}\n\n", name, p.declared(), text)
	g.frames += times
	return func(n number) string { return fmt.Sprintf("%s(%d, %s)", name, times, p.arguments(n)) }
}

// inlined is a function that is inlined always, or as the compiler likes, into another one.
func (g *generator) inlined(call caller) caller {
	inner := g.name("inlined")
	p := g.parameters(g.r.IntN(4))
	text := g.body(call, p.numbers, 1)
	fmt.Fprintf(&g.out, "%s long %s(%s)\n{\n%s\treturn sink;\n}\n\n", one(g, "ALWAYS", "static inline", "ALWAYS"), inner, p.declared(), text)
	g.frames++
	outer := g.name("plain")
	q := g.parameters(g.r.IntN(4))
	text = g.body(p.caller(inner), q.numbers, 1)
	fmt.Fprintf(&g.out, "NOINLINE long %s(%s)\n{\n%s\treturn sink;\n}\n\n", outer, q.declared(), text)
	return q.caller(outer)
}

// tail is a function whose call may be a jump.
func (g *generator) tail(call caller) caller {
	name := g.name("tail")
	p := g.parameters(g.r.IntN(5))
	t := g.base()
	fmt.Fprintf(&g.out, "NOINLINE long %s(%s)\n{\n\t%s = %s;\n\tUSED(gone);\n\treturn %s;\n}\n\n", name, p.declared(), t.declare("gone"), t.value(), call(g.number(p.numbers...)))
	return p.caller(name)
}

// variable is a function whose frame has arrays of variable length, and alloca.
func (g *generator) variable(call caller) caller {
	name := g.name("sized")
	p := g.parameters(g.r.IntN(3))
	count := g.name("count")
	size := 1 + g.r.IntN(6)
	if g.often(15) {
		size = 220
	}
	p.add(count, named("int", integer, nil), func(number) string { return fmt.Sprintf("%d + zero", size) })
	vla := g.name("vla")
	declared := fmt.Sprintf("\t%s %s[%s];\n", one(g, "int", "short", "double", "unsigned char", "char"), vla, count)
	if g.often(40) {
		declared = fmt.Sprintf("\t%s %s[%s][%d];\n", one(g, "int", "short", "double"), vla, count, 1+g.r.IntN(4))
	}
	declared += fmt.Sprintf("\tmemset(%s, %d, sizeof %s);\n\tkeep(&%s);\n", vla, one(g, 0, 1, 65), vla, vla)
	if g.often(40) {
		declared += fmt.Sprintf("\tint grid%s[2][%s];\n\tmemset(grid%s, 0, sizeof grid%s);\n\tint (*row%s)[%s] = &grid%s[1];\n\t(*row%s)[0] = 5;\n\tkeep(&row%s);\n", vla, count, vla, vla, vla, count, vla, vla, vla)
		if g.cxx {
			declared = strings.Split(declared, "\tint grid")[0]
		}
	}
	if g.often(40) {
		declared += fmt.Sprintf("\tchar *%s = (char *)alloca(%s + 8);\n\tmemset(%s, 'x', 8);\n\t%s[8] = 0;\n", vla+"room", count, vla+"room", vla+"room")
	}
	text := g.body(call, append(p.numbers, count), 1)
	fmt.Fprintf(&g.out, "NOINLINE long %s(%s)\n{\n%s%s\treturn sink;\n}\n\n", name, p.declared(), declared, text)
	return p.caller(name)
}
