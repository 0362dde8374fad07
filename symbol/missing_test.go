package symbol

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/regular"
)

// A folder is looked for again when a look is old, and looks do not add up.
func TestMissingFolder(t *testing.T) {
	var m missing
	at := regular.At{Path: filepath.Join(t.TempDir(), ".build-id")}
	if !m.is(at) {
		t.Error("a folder that is not there is not missing")
	}
	if err := os.Mkdir(at.Path, 0o777); err != nil {
		t.Fatal(err)
	}
	m.seen[at] = look{true, time.Now().Add(-2 * oldLook)}
	for range 2 { // the second time by what the first one has found
		if m.is(at) {
			t.Error("a folder that is there now is missing")
		}
	}
	below := regular.At{Root: filepath.Dir(at.Path), Path: "/.build-id"}
	if m.is(below) || !m.is(below.With("/other")) {
		t.Error("folders below a root are not told apart")
	}
	for range 1000 {
		at.Path += "x"
		m.is(regular.At{Path: at.Path})
	}
	if len(m.seen) > 64 {
		t.Errorf("%d looks are kept", len(m.seen))
	}
}
