package valuetest

import (
	"fmt"
	"strconv"
	"strings"
)

// A kind says what can be done with values of a type.
type kind int

const (
	integer kind = iota // has arithmetic with int, and can be converted to long
	scalar              // can be assigned
	object              // a struct, a union or a class: can be assigned and passed
	array
)

// A typ is a type as the source spells it.
type typ struct {
	declare func(declarator string) string // `unsigned char x`, `int (*x)[3]`
	value   func() string                  // an initializer, constant
	kind    kind
	members []string // of a struct: its members that are integers
	fixed   bool     // it is const, or volatile
	flex    bool     // its objects have a size of their own, so that there are no arrays of it, nor copies
}

// A variable is an object of the program.
type variable struct {
	name string
	typ  *typ
}

// named returns a type with a name of one word or several.
func named(spelling string, k kind, value func() string) *typ {
	return &typ{declare: func(d string) string {
		if d == "" {
			return spelling
		}
		return spelling + " " + d
	}, value: value, kind: k}
}

// typ returns any type, whose parts are at most n levels deep.
func (g *generator) typ(n int) *typ {
	choice := g.r.IntN(100)
	switch {
	case n <= 0 || choice < 35:
		return g.base()
	case choice < 40:
		return g.qualified(g.typ(n - 1))
	case choice < 52:
		return g.pointer(n)
	case choice < 57:
		return g.text()
	case choice < 70:
		return g.array(n)
	case choice < 76:
		return g.enum()
	case choice < 80:
		return g.union(n)
	case choice < 84:
		return g.typedef(g.typ(n - 1))
	case choice < 90 && g.cxx && !g.plain && len(g.classes) > 0:
		return one(g, g.classes...).typ
	default:
		return g.structure(n)
	}
}

func (g *generator) base() *typ {
	decimal := func(values ...string) func() string { return func() string { return one(g, values...) } }
	integers := func(bits int, signed bool, suffix string) func() string {
		return func() string {
			v := g.r.Uint64() >> (64 - bits)
			if g.often(60) {
				v = uint64(g.r.IntN(min(200, 1<<min(bits-1, 20))))
			}
			if signed {
				return strconv.FormatInt(int64(v<<(64-bits))>>(64-bits+g.r.IntN(2)), 10) + suffix
			}
			return strconv.FormatUint(v, 10) + "U" + suffix
		}
	}
	float := decimal("0", "1", "-0.5", "3.25", "1e10", "-1e-5", "1.1", "123456789.125", "1e30", "-__builtin_inf()", "__builtin_nan(\"\")", "0.1", "100", "1e-30")
	character := decimal("'a'", "'\\n'", "0", "'\\''", "'\\\\'", "'\"'", "'~'", "27", "127", "'\\t'")
	bases := []func() *typ{
		func() *typ { return named("char", integer, character) },
		func() *typ { return named("signed char", integer, integers(8, true, "")) },
		func() *typ { return named("unsigned char", integer, integers(8, false, "")) },
		func() *typ { return named("short", integer, integers(16, true, "")) },
		func() *typ { return named("unsigned short", integer, integers(16, false, "")) },
		func() *typ { return named("int", integer, integers(31, true, "")) },
		func() *typ { return named("unsigned int", integer, integers(32, false, "")) },
		func() *typ { return named("long", integer, integers(60, true, "L")) },
		func() *typ { return named("unsigned long", integer, integers(64, false, "L")) },
		func() *typ { return named("long long", integer, integers(60, true, "LL")) },
		func() *typ { return named("unsigned long long", integer, integers(64, false, "LL")) },
		func() *typ { return named("bool", integer, decimal("false", "true")) },
		func() *typ {
			return named("__int128", integer, decimal("-5", "7", "(__int128)1 << 100", "-((__int128)12345678901 << 64)", "0"))
		},
		func() *typ {
			return named("unsigned __int128", integer, decimal("5", "(unsigned __int128)3 << 90", "~(unsigned __int128)0"))
		},
		func() *typ { return named("float", scalar, float) },
		func() *typ { return named("double", scalar, float) },
		func() *typ { return named("long double", scalar, float) },
		func() *typ { return named("half", scalar, decimal("1", "-0.5", "0.1", "1000", "0")) },
		func() *typ { return named("__float128", scalar, decimal("1", "-0.5", "0.1", "1000", "0")) },
		func() *typ {
			return named("decimal32", scalar, decimal("DECIMAL(1.25, df)", "DECIMAL(-0.001, df)", "DECIMAL(0.0, df)"))
		},
		func() *typ {
			return named("decimal64", scalar, decimal("DECIMAL(1.1, dd)", "DECIMAL(-123456.5, dd)", "DECIMAL(1e20, dd)"))
		},
		func() *typ {
			return named("decimal128", scalar, decimal("DECIMAL(1.1, dl)", "DECIMAL(-1e-20, dl)"))
		},
		func() *typ { return named("_Complex float", scalar, decimal("1.5f + 2.0fi", "-1.0fi", "0")) },
		func() *typ { return named("_Complex double", scalar, decimal("1.5 + 2.0i", "3", "-0.25i")) },
		func() *typ { return named("_Complex long double", scalar, decimal("0.5L + 2.5Li", "0")) },
		func() *typ {
			return named("wchar_t", integer, decimal("L'a'", "L'\\n'", "0x20ac", "0xe4", "0", "7", "-1"))
		},
		func() *typ { return named("char16_t", integer, decimal("u'a'", "0x20ac", "10", "0", "0xd801")) },
		func() *typ {
			return named("char32_t", integer, decimal("U'a'", "0x1f600", "0x27", "0", "0x110000"))
		},
		func() *typ { return named("char8_t", integer, decimal("'a'", "65", "200", "0")) },
		func() *typ { return named("vector4", scalar, decimal("{1, -2, 3, 4}", "{0}")) },
		func() *typ { return named("vector2", scalar, decimal("{1.5, -2}")) },
		func() *typ { return named("size_t", integer, integers(40, false, "L")) },
		func() *typ { return named("uint8_t", integer, integers(8, false, "")) },
		func() *typ { return named("int8_t", integer, integers(8, true, "")) },
		func() *typ { return named("uint32_t", integer, integers(32, false, "")) },
		func() *typ { return named("intptr_t", integer, integers(50, true, "L")) },
	}
	if g.often(50) { // types that programs have most
		return bases[g.r.IntN(16)]()
	}
	return bases[g.r.IntN(len(bases))]()
}

// qualified is const or volatile.
func (g *generator) qualified(of *typ) *typ {
	q := one(g, "const", "volatile", "const volatile")
	if of.kind == array || of.flex || of.kind == object && g.cxx {
		q = "const"
	}
	t := *of
	t.declare = func(d string) string { return q + " " + of.declare(d) }
	if of.fixed {
		return of
	}
	t.fixed = true
	if d := of.declare("x"); strings.Contains(d, "*") || strings.Contains(d, "(") {
		t.declare = func(d string) string { return of.declare(q + " " + d) }
		if of.kind == array {
			return of
		}
	}
	return &t
}

func (g *generator) typedef(of *typ) *typ {
	name := g.name("alias")
	fmt.Fprintf(&g.out, "typedef %s;\n", of.declare(name))
	t := *of
	t.declare = named(name, of.kind, nil).declare
	return &t
}

// pointer is a pointer to a global object or function, into nowhere, or null.
func (g *generator) pointer(n int) *typ {
	switch g.r.IntN(6) {
	case 0:
		target := g.global(g.base())
		return named("void *", scalar, func() string {
			return one(g, "0", "(void *)0x1234", "(void *)&"+target.name)
		})
	case 1:
		return &typ{kind: scalar, declare: func(d string) string { return "int (*" + d + ")(int)" }, value: func() string { return one(g, "plus", "0", "&plus") }}
	case 2:
		return &typ{kind: scalar, declare: func(d string) string { return "long (*" + d + ")(long, char)" }, value: func() string { return one(g, "minus", "0") }}
	}
	target := g.global(g.typ(n - 1))
	return &typ{kind: scalar, declare: func(d string) string {
		if target.typ.kind == array {
			return target.typ.declare("(*" + d + ")")
		}
		return target.typ.declare("*" + d)
	}, value: func() string {
		if g.often(8) {
			return "0"
		}
		return "&" + target.name
	}}
}

// global returns a global object of the type.
func (g *generator) global(t *typ) variable {
	v := variable{g.name("global"), t}
	static := ""
	if g.often(20) {
		static = "static "
	} else if t.fixed || strings.Contains(t.declare("x"), "const") {
		static = "extern __attribute__((used)) "
		fmt.Fprintf(&g.out, "%s%s;\n", static, t.declare(v.name))
		static = ""
	}
	fmt.Fprintf(&g.out, "%s%s = %s;\n", static, t.declare(v.name), t.value())
	g.bases = append(g.bases, v)
	return v
}

var texts = []string{`"text"`, `""`, `"with \"quotes\" and \\"`, `"tab\tnewline\nbell\a"`, `"a\0b"`, `"\303\244\342\202\254"`, `"\377\376 bytes"`, `"\033[1m"`,
	`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa and then bbbbbbbbbbbbbbbbbbbbbbbbbb."`, `"0123456789\0000123456789"`, `"\001\0022"`, `"it's"`}

// text is a string, of any width.
func (g *generator) text() *typ {
	long := func() string {
		return `"` + strings.Repeat("0123456789 the quick brown fox ", 5+g.r.IntN(4)) + `"`
	}
	prefix, element, values := "", "char", texts
	if g.often(25) {
		wide := one(g, [2]string{"L", "wchar_t"}, [2]string{"u", "char16_t"}, [2]string{"U", "char32_t"}, [2]string{"u8", "char8_t"})
		prefix, element = wide[0], wide[1]
		values = []string{`"text"`, `"\u00e4\u20ac"`, `"a\tb"`, `"nul\0nul"`, `"xxxxxxxxxxxxxxxxxxxx"`, `""`}
	}
	value := func() string {
		if g.often(12) {
			return prefix + long()
		}
		return prefix + one(g, values...)
	}
	if prefix == "u8" && !g.cxx || g.often(45) {
		unsigned := ""
		if element == "char" {
			unsigned = one(g, "", "", "", "unsigned ", "signed ")
		}
		size := one(g, 3, 5, 16, 40, 64, 250)
		return &typ{kind: array, declare: func(d string) string { return fmt.Sprintf("%s%s %s[%d]", unsigned, element, d, size) },
			value: func() string {
				if size < 250 {
					return prefix + one(g, `"ab"`, `"a"`, `""`, `"\n"`)
				}
				return value()
			}}
	}
	return &typ{kind: scalar, declare: func(d string) string { return "const " + element + " *" + d }, value: value}
}

func (g *generator) array(n int) *typ {
	of := g.typ(n - 1)
	if of.flex {
		return of
	}
	size := one(g, 1, 2, 3, 4, 5, 12, 30)
	if of.kind != integer && of.kind != scalar {
		size = one(g, 1, 2, 3)
	} else if g.often(10) {
		size = 230
	}
	return &typ{kind: array, fixed: of.fixed, declare: func(d string) string {
		return of.declare(fmt.Sprintf("%s[%d]", d, size))
	}, value: func() string {
		var values []string
		for len(values) < size {
			v := of.value()
			for range one(g, 1, 1, 1, 3, 9, 10, 11, 60) {
				if values = append(values, v); len(values) == size || g.often(3) {
					break
				}
			}
		}
		if g.often(15) && of.kind != scalar {
			values = values[:1]
		}
		return "{" + strings.Join(values, ", ") + "}"
	}}
}

// enum is an enumeration: of names, of flags, with holes, with a type.
func (g *generator) enum() *typ {
	name := g.name("enum_")
	var values, names []string
	number, flags := 0, g.often(45)
	for i := range 2 + g.r.IntN(5) {
		if flags {
			number = 1 << i
		} else if g.often(30) {
			number += g.r.IntN(20) - 8
		}
		names = append(names, strings.ToUpper(name)+fmt.Sprint("_", i))
		values = append(values, fmt.Sprintf("%s = %d", names[i], number))
		number++
	}
	keyword, spelling := "enum", "enum "+name
	under := ""
	if g.cxx {
		spelling = name
		keyword = one(g, "enum", "enum class", "enum")
		under = one(g, "", "", " : unsigned char", " : short", " : unsigned long")
		if strings.Contains(under, "unsigned") {
			for i := range values {
				values[i] = strings.ReplaceAll(values[i], "= -", "= ")
			}
		}
	}
	fmt.Fprintf(&g.out, "%s %s%s { %s };\n", keyword, name, under, strings.Join(values, ", "))
	k := integer
	if g.cxx {
		k = scalar
	}
	return named(spelling, k, func() string {
		v := one(g, names...)
		if keyword == "enum class" {
			v = name + "::" + v
		}
		switch {
		case g.often(15):
			return fmt.Sprintf("(%s)%d", spelling, g.r.IntN(70))
		case g.often(30) && flags && keyword == "enum":
			return fmt.Sprintf("(%s)(%s | %s)", spelling, v, one(g, names...))
		}
		return v
	})
}
