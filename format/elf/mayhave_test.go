package elf

import (
	"bytes"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestContainsName: where a name is found does not depend on what stands before it.
func TestContainsName(t *testing.T) {
	for _, name := range []string{"_PyRuntime\x00", "__jit_debug_descriptor\x00", "\x00", "e\x00", "aXbX\x00", "jjj\x00"} {
		for _, text := range []string{"", name, "x" + name, name[1:], "j" + name[:len(name)-1], name[1:] + name, name[1:] + "\x00" + name, name[:1] + name + name, "aXaXbX\x00", "jj\x00jjj\x00"} {
			if got, want := containsName([]byte(text), []byte(name)), bytes.Contains([]byte(text), []byte(name)); got != want {
				t.Errorf("%q in %q: %v", name, text, got)
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
