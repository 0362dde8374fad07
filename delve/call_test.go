//go:build linux && (amd64 || arm64)

package delve_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// The prefix of C's names is taken from names alone.
func TestWithoutPrefix(t *testing.T) {
	for text, want := range map[string]string{
		"C.getpid()":               "getpid()",
		"getpid()":                 "getpid()",
		`(long) C.strlen("C.x")`:   `(long) strlen("C.x")`,
		`C.f("\"C.x", C.g('C'))`:   `f("\"C.x", g('C'))`,
		"ABC.f(1)":                 "ABC.f(1)",
		"x.C.f(1)":                 "x.C.f(1)",
		"C.1 + f(C._g, '\\'', C.)": "C.1 + f(_g, '\\'', C.)",
	} {
		if got := delve.WithoutPrefix(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"getpid()": "getpid", "(double) pow(2, 3)": "pow", "f(g(1), h())": "f", "(void) (int) f()": "f",
		"": "", "x": "", "f(": "", "-f()": "", "main.f(1)": "", "x = f()": "", `"f()"`: "",
	} {
		if got, ok := delve.Callee(text); got != want || ok != (want != "") {
			t.Errorf("%s calls %q, want %q", text, got, want)
		}
	}
}

// Whatever a client sends is read in little time, and a prefix is all that is lost.
func FuzzCallee(f *testing.F) {
	for _, text := range []string{"C.getpid()", `(char *) C.f("a\"C.x", 'C', {1, C.g})`, "f(", "C.", "'\\"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bounds.Hold(t, 1<<20+1024*len(text), func() {
			short := delve.WithoutPrefix(text)
			if strings.ReplaceAll(short, "C.", "") != strings.ReplaceAll(text, "C.", "") {
				t.Errorf("%q of %q", short, text)
			}
			delve.Callee(short)
		})
	})
}
