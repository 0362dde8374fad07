package sniffer_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/sniffer"
)

// The package's documentation has all sniffers, in their order.
func TestDocumentedOrder(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range regexp.MustCompile(`(?m)^//\t(\S+)`).FindAllSubmatch(text, -1) {
		names = append(names, string(line[1]))
	}
	if all := sniffer.AllNames(); !slices.Equal(names, all) {
		t.Errorf("the documentation has %q, and the order is %q", names, all)
	}
}
