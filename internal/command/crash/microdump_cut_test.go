package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log that cannot be read to its end may have more microdumps: that is said.
func TestMicrodumpsNotRead(t *testing.T) {
	const one = "google-breakpad(7): -----BEGIN BREAKPAD MICRODUMP-----\n" +
		"google-breakpad(7): O L x86_64 04 x86_64 5.10\n" +
		"google-breakpad(7): -----END BREAKPAD MICRODUMP-----\n"
	for text, want := range map[string]bool{one: false, one + strings.Repeat("x", 2<<20) + "\n" + one: true, strings.Repeat(one, 1025): true} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, number := range []int{0, 1} {
			dump, err := openDump(path, number)
			if err != nil {
				t.Fatal(err)
			}
			if w := strings.Join(dump.Warnings, "\n"); strings.Contains(w, "are not read") != want {
				t.Errorf("%d bytes: %q", len(text), w)
			}
		}
	}
}
