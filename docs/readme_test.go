package docs

import (
	"strings"
	"testing"
)

// TestREADME: a stranger reads the whole page, and CI finds the test command in it.
func TestREADME(t *testing.T) {
	text := readFile(t, "../README.md")
	if n := strings.Count(text, "\n"); n >= 200 {
		t.Errorf("README.md has %d lines, want fewer than 200", n)
	}
	for _, command := range []string{"\n    make demo ", "\n    make test "} {
		if !strings.Contains(text, command) {
			t.Errorf("README.md lacks the command %q", strings.TrimSpace(command))
		}
	}
}
