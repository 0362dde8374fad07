package expression_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// show writes an expression in one form, with all parentheses.
func show(n *expression.Node) string {
	var args []string
	for _, a := range n.Args {
		args = append(args, show(a))
	}
	switch n.Kind {
	case expression.Integer, expression.Char:
		return fmt.Sprint(int64(n.Int)) + n.Suffix
	case expression.Float:
		return fmt.Sprintf("%g", n.Float) + n.Suffix
	case expression.String:
		return fmt.Sprintf("%q", n.Text)
	case expression.Name:
		if n.File != "" {
			return "'" + n.File + "'::" + n.Text
		}
		return n.Text
	case expression.Call:
		return args[0] + "(" + strings.Join(args[1:], ", ") + ")"
	case expression.Cast:
		return "((" + written(n.Type) + ") " + args[0] + ")"
	case expression.Array:
		return "{" + strings.Join(args, ", ") + "}"
	case expression.Deref:
		return "*" + args[0]
	case expression.Member:
		return args[0] + "." + n.Text
	case expression.Index:
		return args[0] + "[" + args[1] + "]"
	case expression.Binary:
		return "(" + args[0] + " " + n.Text + " " + args[1] + ")"
	case expression.Conditional:
		return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")"
	case expression.SizeOf:
		if n.Type != nil {
			return "sizeof(" + written(n.Type) + ")"
		}
		return "sizeof " + args[0]
	case expression.At:
		return "{" + written(n.Type) + "} " + args[0]
	}
	return map[expression.Kind]string{expression.Address: "&", expression.Negative: "-", expression.Not: "!", expression.Complement: "~"}[n.Kind] + args[0]
}

// written writes a type with all that is derived from it, in the order of the words: "int[3]*" is a
// pointer to an array.
func written(t *expression.Type) string {
	text := ""
	if t.Const {
		text = "const "
	}
	text += t.Name
	if t.Pointers == len(t.Derived) && t.Pointers > 0 && !t.Const {
		plain := true
		for _, d := range t.Derived {
			plain = plain && !d.Const && !d.Volatile
		}
		if plain {
			return t.String()
		}
	}
	for _, d := range t.Derived {
		switch d.Kind {
		case '[':
			text += fmt.Sprintf("[%d]", d.Count)
		case '(':
			var list []string
			for _, p := range d.Parameters {
				list = append(list, written(p))
			}
			text += "(" + strings.Join(list, ", ") + ")"
		case 'R':
			text += "&&"
		default:
			text += string(d.Kind)
		}
		if d.Const {
			text += " const"
		}
	}
	return text
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"getpid()":                               "getpid()",
		" malloc_trim ( 0 ) ":                    "malloc_trim(0)",
		"(double) pow(2.0, 10.0)":                "((double) pow(2, 10))",
		`puts("hello\n\x41\101")`:                `puts("hello\nAA")`,
		`puts("a" "b")`:                          `puts("ab")`,
		"f(g(1), -2, +3, 'a', '\\n')":            "f(g(1), -2, 3, 97, 10)",
		"f({1, 2, 3}, &x, ~0, !1)":               "f({1, 2, 3}, &x, ~0, !1)",
		"f(0x10, 010, 0b11, 10UL, 1.5f, 1e-3)":   "f(16, 8, 3, 10ul, 1.5f, 0.001)",
		"(unsigned long) f((char *) 0)":          "((unsigned long) f(((char *) 0)))",
		"(const struct stat *const) f()":         "((const struct stat* const) f())",
		"a::b::c(1)":                             "a::b::c(1)",
		"::top()":                                "top()",
		"(f)(1)":                                 "((f) 1)",
		"(size_t) strlen(\"x\")":                 "((size_t) strlen(\"x\"))",
		"(my_type) f()":                          "((my_type) f())",
		"(a::T *) f()":                           "((a::T *) f())",
		"0x401136(1)":                            "4198710(1)",
		"((f))":                                  "f",
		"f(-(1))":                                "f(-1)",
		"jemalloc_stats_print(0, 0, \"J\")":      "jemalloc_stats_print(0, 0, \"J\")",
		"f(0x1.8p1, 18446744073709551615)":       "f(3, -1)",
		"große_Funktion(1)":                      "große_Funktion(1)",
		"f(\"\\\"\\\\\")":                        `f("\"\\")`,
		"(long long int) f()":                    "((long long int) f())",
		"f(- -1)":                                "f(--1)",
		"dlopen(\"libm.so.6\", 0x101)":           "dlopen(\"libm.so.6\", 257)",
		"(void) f()":                             "((void) f())",
		"PyRun_SimpleString(\"print('hello')\")": `PyRun_SimpleString("print('hello')")`,
	} {
		n, err := expression.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := show(n); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"pow(2.0, )":             "an argument is missing at column 10",
		"pow(,1)":                "an argument is missing at column 5",
		"":                       "an expression is missing at column 1",
		"f(":                     "an expression is missing at column 3",
		"f(1":                    "the arguments are not closed at column 4",
		"f(1 2)":                 "the arguments are not closed at column 5",
		"f() g":                  "something behind the end of the expression at column 5",
		`f("x`:                   "a quote without an end at column 3",
		`f("\q")`:                "an escape that C does not have at column 4",
		"f(1x)":                  "not a number at column 3",
		"f(08)":                  "not a number at column 3",
		"f(1_0)":                 "not a number at column 3",
		"f(0x1ffffffffffffffff)": "a number of more than 64 bits at column 3",
		"ß(§)":                   "a character that no expression has at column 3",
		"f('ab')":                "a character constant of other than one byte at column 3",
		"(int) ":                 "an expression is missing at column 7",
		"(f(1)":                  "a parenthesis is not closed at column 6",
		"f({1,})":                "an element is missing at column 6",
		"a::(1)":                 "a name is missing at column 4",
	} {
		_, err := expression.Parse(text)
		var e *expression.Error
		if !errors.As(err, &e) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// types are names of types in the tests below; all other names are variables.
func types(name string) bool {
	switch name {
	case "T", "ns::T", "Box<int>", "Map<int, Box<char const*> >", "Box":
		return true
	}
	return false
}

// TestOperators compares the order in which operators bind with the order of the C standard, and of
// GDB's grammar for @.
func TestOperators(t *testing.T) {
	for text, want := range map[string]string{
		"a + b * c - d":                     "((a + (b * c)) - d)",
		"a - b - c":                         "((a - b) - c)",
		"a << 1 + 2 < b":                    "((a << (1 + 2)) < b)",
		"a & b == c | d ^ e && f || g":      "((((a & (b == c)) | (d ^ e)) && f) || g)",
		"a ? b : c ? d : e":                 "(a ? b : (c ? d : e))",
		"a ? b, c : d":                      "the ':' of a '?' is missing at column 6",
		"*p@n + 1":                          "(*p @ (n + 1))",
		"*p++":                              "an expression is missing at column 5",
		"&a[1].b->c":                        "&a[1].b.c",
		"*p->q[2]":                          "*p.q[2]",
		"(T) - 1":                           "((T) -1)",
		"(a) - 1":                           "(a - 1)",
		"(T *) & a":                         "((T *) &a)",
		"(a) & b":                           "(a & b)",
		"(const T * const *) p":             "((const T* const*) p)",
		"(int (*)[3]) p":                    "((int[3]*) p)",
		"(int [2][3]) p":                    "((int[3][2]) p)",
		"(char *(*)(int, T)) f":             "((char*(int, T)*) f)",
		"(T &) x":                           "((T&) x)",
		"(T &&) x":                          "((T&&) x)",
		"sizeof (T)":                        "sizeof(T)",
		"sizeof (a)":                        "sizeof a",
		"sizeof a + 1":                      "(sizeof a + 1)",
		"sizeof (int) * 2":                  "(sizeof(int) * 2)",
		"{int} 0x10":                        "{int} 16",
		"{T *} p":                           "{T *} p",
		"'file.c'::x + 'y'":                 "('file.c'::x + 121)",
		"'main.x'":                          "main.x",
		"::x":                               "::x",
		"ns::x + ::y":                       "(ns::x + ::y)",
		"(ns::T *) p":                       "((ns::T *) p)",
		"(Box<int> *) p":                    "((Box<int> *) p)",
		"(Map<int,Box<const char*>>*) p":    "an expression is missing at column 28",
		"(Map<int,Box<char const *>>*) p":   "((Map<int, Box<char const*> > *) p)",
		"Box<int>::count < 3":               "(Box<int>::count < 3)",
		"a < b":                             "(a < b)",
		"a < b > c":                         "((a < b) > c)",
		"t.0.1 + t.2":                       "(t.0.1 + t.2)",
		"$rip":                              "$rip",
		"a.~b":                              "a.~b",
		"a = 1":                             "an expression cannot assign at column 3",
		"a += 1":                            "an expression cannot assign at column 4",
		"a == b != c":                       "((a == b) != c)",
		"a >= b <= c >> 2":                  "((a >= b) <= (c >> 2))",
		"!a && ~b || -c % +d / 2":           "((!a && ~b) || ((-c % d) / 2))",
		"a[1":                               "an index is not closed at column 4",
		"a.":                                "a name is missing at column 3",
		"a->1":                              "a.1",
		"(T) a[1]":                          "((T) a[1])",
		"(unsigned char) 300 == (char) 'a'": "(((unsigned char) 300) == ((char) 97))",
	} {
		n, err := expression.ParseWith(text, expression.Scope{IsType: types, Language: "c++"})
		got := ""
		if err != nil {
			_, got, _ = strings.Cut(err.Error(), fmt.Sprintf("%q: ", text))
		} else {
			got = show(n)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200): "nested too deep",
		strings.Repeat("a ? ", 200) + "1":                         "nested too deep",
		"a" + strings.Repeat("+a", 5000):                          "too many operators",
		"a" + strings.Repeat("[1]", 5000):                         "too many operators",
		"(int" + strings.Repeat("*", 500) + ") 1":                 "nested too deep",
	} {
		if _, err := expression.ParseWith(text, expression.Scope{IsType: types, Language: "c++"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s…: %v, want %s", text, err, want)
		}
	}
}

// FuzzParse reads any text: it gives a tree, or an error that points into the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"(double) pow(2.0, -10)", `f("a\x41" 'b', {1, &x})`, "((((f))))(1)(2)", "(struct a *) g()", "~-!+&1", "a::b(1.5e-3f, 0b1)",
		"a ? *b@2 + c->d[1] : -e", "sizeof (T (*)[3])", "{T *} 'f.c'::x", "(Box<int> &) ns::y < 2", "t.0.1 << 3 == 2 && !u"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bounds.Hold(t, 1<<20+256*len(text), func() {
			n, err := expression.ParseWith(text, expression.Scope{IsType: types, Language: "c++"})
			var at *expression.Error
			if err != nil && (!errors.As(err, &at) || at.Column < 1 || at.Column > len(text)+1) {
				t.Errorf("%v", err)
			}
			if err == nil {
				show(n)
			}
			n, err = expression.Parse(text)
			var e *expression.Error
			switch {
			case err == nil && show(n) == "":
				t.Error("an empty tree")
			case err != nil && (!errors.As(err, &e) || e.Column < 1 || e.Column > len(text)+1):
				t.Errorf("%v", err)
			}
		})
	})
}
