package prologue

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestKinds holds the numbered list of docs/sniffers.md against the kinds of evidence.
func TestKinds(t *testing.T) {
	text, err := os.ReadFile("../../docs/sniffers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Code without tables\n")
	if !ok {
		t.Fatal("docs/sniffers.md has no section on code without tables")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var listed, want []string
	for _, m := range regexp.MustCompile(`(?m)^\d+\. \*\*(.*?)\.?\*\*`).FindAllStringSubmatch(section, -1) {
		listed = append(listed, m[1])
	}
	for i := range kinds {
		want = append(want, kinds[i].name)
	}
	if !slices.Equal(listed, want) {
		t.Errorf("docs/sniffers.md lists\n%q, and the sniffer tries\n%q", listed, want)
	}
}
