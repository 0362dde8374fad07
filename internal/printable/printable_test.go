package printable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"main (…) at größe.c:1":    "main (…) at größe.c:1",
		"日本　語\u00a0é\u0301😀":       "日本　語\u00a0é\u0301😀",
		"a\x1b[31m\x00\a\b\x7f":    `a\x1b[31m\x00\x07\x08\u007f`,
		"line\nother\r\tx":         `line\nother\r\tx`,
		"\u0080\u009b2J\u009f":     `\u0080\u009b2J\u009f`,
		"\x9b2J\xff\xc2":           `\x9b2J\xff\xc2`,
		"\xed\xa0\x80":             `\xed\xa0\x80`, // a surrogate is not UTF-8
		"\xc0\x9b":                 `\xc0\x9b`,     // too long a form
		"\u061c\u200e\u200f":       `\u061c\u200e\u200f`,
		"\u202a\u202e\u2066\u2069": `\u202a\u202e\u2066\u2069`,
		"\u2028\u2029\ufeff":       `\u2028\u2029\ufeff`,
		"\u00ad\u200b\u2060\u180e": `\u00ad\u200b\u2060\u180e`,
		"\U000e0001\U000e007f":     `\udb40\udc01\udb40\udc7f`,
		`\x1b "quoted"`:            `\x1b "quoted"`,
	} {
		if got := Escape(text); got != want {
			t.Errorf("Escape(%q) = %s, want %s", text, got, want)
		}
		if got := string(Append([]byte("x"), text)); got != "x"+want {
			t.Errorf("Append: %q, want %s", got, want)
		}
	}
}

func TestFprintf(t *testing.T) {
	evil := errors.New("e\nf\x1b")
	for _, tt := range []struct {
		want, format string
		args         []any
	}{
		{"a\\nb: 7\n", "%s: %d\n", []any{"a\nb", 7}},
		{"\"a\\nb\" 0x1f|\n", "%q %#x|\n", []any{"a\nb", 31}},
		{"ab    |   ab", "%-*s|%*s", []any{6, "ab", 5, "ab"}},
		{"[a\\n \\x1b]", "%v", []any{[]string{"a\n", "\x1b"}}},
		{"x: e\\nf\\x1b", "%v", []any{fmt.Errorf("x: %w", evil)}},
		{"one\ne\\nf\\x1b", "%v", []any{errors.Join(errors.New("one"), evil)}},
		{"\\u009b: one\ntwo: e\\nf\\x1b.\\a", "%v", []any{fmt.Errorf("\u009b: %w.\\a", errors.Join(errors.New("one"), fmt.Errorf("two: %w", evil)))}},
		{"e\\nf\\x1b and e\\nf\\x1b", "%v", []any{fmt.Errorf("%w and %w", evil, evil)}},
		{"\\n", "%v", []any{hidden{}}},
		{"<nil> %!d(string=a\\n)", "%v %d", []any{nil, "a\n"}},
	} {
		var b bytes.Buffer
		if Fprintf(&b, tt.format, tt.args...); b.String() != tt.want {
			t.Errorf("%q, want %q", b.String(), tt.want)
		}
	}
}

// hidden is an error whose text does not show the errors that it wraps.
type hidden struct{}

func (hidden) Error() string { return "\n" }
func (hidden) Unwrap() error { return nil }

func TestWriter(t *testing.T) {
	for _, tt := range []struct {
		colors     bool
		text, want string
	}{
		{false, "#0  main (…)\n\tü\n", "#0  main (…)\n\tü\n"},
		{false, "\x1b[31mred\x1b[m\r\n", "\\x1b[31mred\\x1b[m\\r\n"},
		{true, "\x1b[31mred\x1b[m\n", "\x1b[31mred\x1b[m\n"},
		{true, "\x1b[2J\x1b[1;31m\x1b]0;x\a\x1b[123m\x1bm\x1b", `\x1b[2J\x1b[1;31m\x1b]0;x\x07\x1b[123m\x1bm\x1b`},
		{true, "\u009b31m\u202e\xff…\xe2\x80", `\u009b31m\u202e\xff…\xe2\x80`},
		{false, `{"a":"` + "\u009b\u007f\u202e" + `"}` + "\n", `{"a":"\u009b\u007f\u202e"}` + "\n"},
	} {
		for size := 1; size <= len(tt.text); size++ {
			if got := written(tt.text, size, tt.colors); got != tt.want {
				t.Fatalf("%q in pieces of %d: %q, want %q", tt.text, size, got, tt.want)
			}
		}
	}
}

// written writes text in pieces.
func written(text string, size int, colors bool) string {
	var b bytes.Buffer
	w := NewWriter(&b)
	if colors {
		w.AllowColors()
	}
	for len(text) > 0 {
		n := min(size, len(text))
		if got, err := w.Write([]byte(text[:n])); got != n || err != nil {
			return fmt.Sprintf("%d of %d bytes, %v", got, n, err)
		}
		text = text[n:]
	}
	w.Close()
	return b.String()
}

// All output is visible and nothing is lost, however the text is cut into pieces. Text that was
// visible stays, and JSON means the same.
func FuzzPrintable(f *testing.F) {
	f.Add("s\x1b[31mRED\x1b[0m\nB.c", 3)
	f.Add("ev\x1b]0;OWNED\a\x1b[2J\nfakeline ", 1)
	f.Add("\u009b\u202e\u2028\ufeff\xff\xe2\x80…\U000e0001", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		bounds.Hold(t, 64<<10+512*len(text), func() { checkShown(t, text, size) })
	})
}

func checkShown(t *testing.T, text string, size int) {
	seen := func(shown string, layout string) {
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsGraphic(r) && !strings.ContainsRune(layout, r) }) {
			t.Fatalf("%q is shown as %q", text, shown)
		}
	}
	line := Escape(text)
	seen(line, "")
	size = max(1, size%9)
	all := written(text, size, false)
	seen(all, "\n\t")
	if whole := written(text, len(text)+1, false); all != whole {
		t.Fatalf("%q in pieces of %d: %q, in one %q", text, size, all, whole)
	}
	if got := strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(all); got != line {
		t.Fatalf("%q: %q, on one line %q", text, got, line)
	}
	if Escape(line) != line {
		t.Fatalf("%q: %q is not what %q is", text, Escape(line), line)
	}
	doc, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal([]byte(written(string(doc), size, true)), &back); err != nil || back != strings.ToValidUTF8(text, "\ufffd") && utf8.ValidString(text) {
		t.Fatalf("%q in JSON: %q, %v", text, back, err)
	}
}

// Text that needs no escape is not copied.
func TestEscapeAllocates(t *testing.T) {
	room := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { Escape("std::vector<int>::push_back (…)"); Append(room, "größe…") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
