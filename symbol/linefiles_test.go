package symbol

import (
	"strings"
	"testing"
)

// A file whose name lies beyond the section of names has none, and one warning says so for all such files.
func TestNamesOfFilesBeyond(t *testing.T) {
	var warnings []string
	d := &debugInfo{warn: func(err error) { warnings = append(warnings, err.Error()) }}
	l := lineFiles{d: d, files: []lineFile{{name: 5, in: formLineStrp}, {name: 7, in: formStrp}, {name: 0, in: formString}}, names: []byte("a.c\x00")}
	for i, want := range []string{"", "", "a.c"} {
		if i == 2 {
			d.textLeft.Store(16)
		}
		if got := l.name(i); got != want {
			t.Errorf("file %d: %q, want %q", i, got, want)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "names of source files") {
		t.Errorf("warnings %q", warnings)
	}
}
