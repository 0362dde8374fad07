package symbol

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestShort(t *testing.T) {
	for _, n := range []int{0, 1, maxName - 1, maxName} {
		if name := strings.Repeat("n", n); Truncate(name) != name {
			t.Errorf("a name of %d bytes is cut", n)
		}
	}
	for _, name := range []string{strings.Repeat("n", maxName+1), strings.Repeat("日", 1<<20), "xx" + strings.Repeat("日", 1<<20), strings.Repeat("\x80", 1<<20)} {
		cut := Truncate(name)
		before, mark, ok := strings.Cut(cut, "…")
		if !ok || len(cut) > maxName || !strings.HasPrefix(name, before) || utf8.ValidString(name) != utf8.ValidString(cut) || Truncate(cut) != cut {
			t.Errorf("%d bytes of %d, %q", len(before), len(name), mark)
		}
	}
}
