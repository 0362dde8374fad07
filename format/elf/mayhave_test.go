package elf

import (
	"bytes"
	"testing"
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
