package count_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/count"
)

// The plurals are as a dictionary of English has them.
func TestOf(t *testing.T) {
	for _, tt := range []struct {
		n          int
		what, want string
	}{
		{0, "thread", "0 threads"}, {1, "thread", "1 thread"}, {2, "thread", "2 threads"}, {1, "process", "1 process"}, {3, "process", "3 processes"},
		{2, "entry", "2 entries"}, {2, "key", "2 keys"}, {2, "box", "2 boxes"}, {2, "match", "2 matches"}, {2, "debug file", "2 debug files"}, {-1, "byte", "-1 bytes"},
	} {
		if got := count.Of(tt.n, tt.what); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if count.Of(uint64(1), "page") != "1 page" || count.Verb(1, "is", "are") != "is" || count.Verb(uint64(0), "is", "are") != "are" {
		t.Error("another type of number is counted otherwise")
	}
}
