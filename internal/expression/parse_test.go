package expression_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/internal/expression"
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
		return n.Text
	case expression.Call:
		return args[0] + "(" + strings.Join(args[1:], ", ") + ")"
	case expression.Cast:
		return "((" + n.Type.String() + ") " + args[0] + ")"
	case expression.Array:
		return "{" + strings.Join(args, ", ") + "}"
	}
	return map[expression.Kind]string{expression.Address: "&", expression.Negative: "-", expression.Not: "!", expression.Complement: "~"}[n.Kind] + args[0]
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
		"(const struct stat *const) f()":         "((struct stat *) f())",
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

// FuzzParse reads any text: it gives a tree, or an error that points into the text.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"(double) pow(2.0, -10)", `f("a\x41" 'b', {1, &x})`, "((((f))))(1)(2)", "(struct a *) g()", "~-!+&1", "a::b(1.5e-3f, 0b1)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bounds.Hold(t, 1<<20+256*len(text), func() {
			n, err := expression.Parse(text)
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
