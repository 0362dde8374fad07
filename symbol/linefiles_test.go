package symbol

import (
	"strings"
	"sync/atomic"
	"testing"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/format/elf"
)

// A file whose name lies beyond the section of names has none, and one warning says so for all such
// files.
func TestNamesOfFilesBeyond(t *testing.T) {
	var warnings []string
	d := &debugInfo{warn: func(err error) { warnings = append(warnings, err.Error()) }}
	l := lineFiles{d: d, files: []dwarfdata.LineFile{{Name: 5, Form: dwarfdata.FormLineStrp}, {Name: 7, Form: dwarfdata.FormStrp}, {Form: dwarfdata.FormString}}, names: []byte("a.c\x00")}
	for i, want := range []string{"", "", "a.c"} {
		if i == 2 {
			d.textLeft.Store(16)
		}
		if got := l.name(i); got != want {
			t.Errorf("file %d: %q, want %q", i, got, want)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "read names") {
		t.Errorf("warnings %q", warnings)
	}
}

// The names of files that are kept count, and are dropped where their room is needed: a small file
// can have many that are long.
func TestMemoryOfFileNames(t *testing.T) {
	const files, most, length = 100, 1000, 99
	kept := &sharedInfo{spare: new(elf.Image).Evictable(nil)}
	held := &holding{room: &room{kept: kept}}
	held.room.left.Store(most)
	kept.holdings.add(held)
	d := &debugInfo{warn: func(err error) { t.Error(err) }}
	d.textLeft.Store(1 << 20)
	l := lineFiles{d: d, held: held, names: []byte(strings.Repeat("a", length) + "\x00"), shown: make([]atomic.Pointer[string], files)}
	for range files {
		l.files = append(l.files, dwarfdata.LineFile{Form: dwarfdata.FormString})
	}
	dropped := 0
	held.drop = func() {
		dropped++
		clear(l.shown)
	}
	for i := range files {
		if got := l.name(i); len(got) != length {
			t.Fatalf("file %d: %q", i, got)
		}
		sum := int64(0)
		for j := range l.shown {
			if name := l.shown[j].Load(); name != nil {
				sum += int64(len(*name))
			}
		}
		if counted := held.bytes.Load(); sum != counted || sum > most {
			t.Fatalf("with file %d, names of %d bytes are kept, and %d counted", i, sum, counted)
		}
	}
	if dropped == 0 {
		t.Error("nothing was dropped: the test does not test")
	}
}
