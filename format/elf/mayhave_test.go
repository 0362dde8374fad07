package elf

import (
	"bytes"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestEnds: a name is found where a string ends with it, whatever stands around, also where the
// text is read in pieces.
func TestEnds(t *testing.T) {
	for _, name := range []string{"_PyRuntime", "__jit_debug_descriptor", "", "e", "aXbX", "jjj"} {
		end := name + "\x00"
		for _, text := range []string{"", end, "x" + end, end[1:], "j" + name, end[1:] + end, end[1:] + "\x00" + end, end[:1] + end + end, "aXaXbX\x00", "jj\x00jjj\x00"} {
			m := newMentioned([]string{"xx", name, "e"})
			missing := m.in([]byte(text))
			if want := name == "" || bytes.Contains([]byte(text), []byte(end)); m.found[1] != want || !missing {
				t.Errorf("%q in %q: %v", name, text, m.found)
			}
		}
	}
}

// TestSeveralNames: names that are looked for together are found as each alone is.
func TestSeveralNames(t *testing.T) {
	f, err := os.Open(gdbtest.File(t, libc))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	im, err := Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"printf", "printf?", "a name longer than others, which is nowhere", "malloc", "alloc"}
	for i, found := range im.mayHave(names...) {
		if want := im.mayHave(names[i])[0]; found != want || found != (names[i] == "printf" || names[i] == "malloc" || names[i] == "alloc") {
			t.Errorf("%q is found %v among others, and %v alone", names[i], found, want)
		}
	}
}
