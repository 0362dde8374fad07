package external

import (
	"strings"
	"testing"
	"unicode"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// tails are standard errors of plug-ins, and what end returns of them.
var tails = []struct{ text, want string }{
	{"", ""},
	{"one\n", "one"},
	{"1\n2\n3\n4\n", "2; 3; 4"},
	{"panic: a\n\ngoroutine 1 [running]:\n", "panic: a"},
	{"1\n2\n3\npanic: a\n\ngoroutine 1 [running]:\nmain.main()\n", "panic: a"},
	{"1\npanic: said\n2\nfatal error: b\n\nruntime stack:\n", "fatal error: b"},
	{"1\n2\n\x1b[2Jpanic: a\n", "1; 2; \ufffd[2Jpanic: a"},
}

func endOf(t *testing.T, text []byte) string {
	t.Helper()
	var end tail
	if _, err := end.Write(text); err != nil {
		t.Fatal(err)
	}
	return end.end()
}

func TestTail(t *testing.T) {
	for _, tt := range tails {
		if got := endOf(t, []byte(tt.text)); got != tt.want {
			t.Errorf("of %q the end is %q, want %q", tt.text, got, tt.want)
		}
	}
}

// FuzzTail writes any bytes as a plug-in's standard error. The end is short, and has no control
// characters.
func FuzzTail(f *testing.F) {
	for _, tt := range tails {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		bounds.Hold(t, 1<<20+64*len(text), func() {
			got := endOf(t, text)
			// Each of 3 lines has up to 300 bytes, and each byte may become U+FFFD.
			if len(got) > 3*300*3+4 || strings.ContainsFunc(got, unicode.IsControl) {
				t.Errorf("of %q the end is %q", text, got)
			}
		})
	})
}
