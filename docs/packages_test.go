package docs

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listed is a line of a list of packages in the doc comment of the module's root.
var listed = regexp.MustCompile(`(?m)^//\t(\S+)  +\S`)

// TestPackages compares the packages that another module can import with the packages that the doc
// comment of the module's root lists.
func TestPackages(t *testing.T) {
	want := map[string]bool{}
	for dir, p := range packages(t) {
		if p.Name != "main" && !strings.Contains("/"+dir+"/", "/internal/") {
			want[dir] = true
		}
	}
	for _, m := range listed.FindAllStringSubmatch(readFile(t, "../doc.go"), -1) {
		if !want[m[1]] {
			t.Errorf("doc.go lists %s: there is no such package, or it is listed twice", m[1])
		}
		delete(want, m[1])
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("doc.go does not say whom package %s is for", name)
	}
}
