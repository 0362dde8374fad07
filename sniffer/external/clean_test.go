package external

import "testing"

func TestClean(t *testing.T) {
	for _, tt := range []struct {
		text    string
		longest int
		want    string
	}{
		{"~inner\tx.js", 99, "~inner x.js"},
		{"\x1b[31mred\x07", 99, "\ufffd[31mred\ufffd"},
		{"bad\xffutf8", 99, "bad\ufffdutf8"},
		{"two\nlines", 99, "two\ufffdlines"},
		{"\u202egnp", 99, "\ufffdgnp"}, // would be shown from right to left
		{"größer", 3, "gr"},            // within a character
		{"größer", 4, "grö"},
	} {
		if got := clean(tt.text, tt.longest); got != tt.want {
			t.Errorf("%q is shown as %q, want %q", tt.text, got, tt.want)
		}
	}
}
