package docs

import (
	"go/build"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listed is a line of a list of packages in the doc comment of the module's root.
var listed = regexp.MustCompile(`(?m)^//\t(\S+)  +\S`)

// TestPackages compares the packages that another module can import with those that the doc
// comment of the module's root lists.
func TestPackages(t *testing.T) {
	want := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == ".." {
			return err
		}
		if name := d.Name(); name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(files, func(file string) bool { return !strings.HasSuffix(file, "_test.go") }) {
			p, err := (&build.Context{GOOS: "linux", GOARCH: "amd64", Compiler: "gc"}).ImportDir(path, 0)
			if err != nil {
				return err
			}
			if p.Name != "main" {
				want[filepath.ToSlash(path[len("../"):])] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
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
