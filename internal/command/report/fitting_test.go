package report

import (
	"slices"
	"testing"
)

// What does not fit is counted in a last warning.
func TestFitting(t *testing.T) {
	for _, tt := range []struct {
		most       int
		list, want []string
	}{
		{0, nil, nil},
		{6, []string{"abc", "def"}, []string{"abc", "def"}},
		{5, []string{"abc", "def", "g"}, []string{"abc", "further warnings are left out, for their text is too long: 2"}},
		{2, []string{"abc"}, []string{"further warnings are left out, for their text is too long: 1"}},
	} {
		if got := FittingWarnings(slices.Clone(tt.list), tt.most); !slices.Equal(got, tt.want) {
			t.Errorf("%d: %q", tt.most, got)
		}
	}
	list := []string{"/a: x", "/b/c: y", "/b: z"}
	for text, want := range map[string]bool{"/a: ": true, "/b: ": true, "/b/c: ": true, "/": true, "/c: ": false, "/a: x ": false, "/b/c: z": false} {
		if anyBegins(list, text) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
