//go:build linux

package gdbtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFuzzBounds reads all fuzz tests of the module: each holds what it reads to bounds of memory
// and time.
func TestFuzzBounds(t *testing.T) {
	packages, number := map[string][]*ast.File{}, 0
	module(t, func(name string, _ *token.FileSet, file *ast.File) {
		dir := filepath.Dir(name)
		packages[dir] = append(packages[dir], file)
	})
	for dir, files := range packages {
		n, unbound := unbound(files)
		number += n
		for _, name := range unbound {
			t.Errorf("%s: %s does not come to bounds.Hold", dir, name)
		}
	}
	if number < 80 {
		t.Errorf("%d fuzz tests", number)
	}
}

// TestUnbound shows what TestFuzzBounds finds.
func TestUnbound(t *testing.T) {
	for body, want := range map[string]int{
		`f.Fuzz(func(t *testing.T, b []byte) { read(b) })`:                                1,
		`f.Fuzz(func(t *testing.T, b []byte) { bounds.Hold(t, 1, func() { read(b) }) })`:  0,
		`f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })`:                            0,
		`f.Fuzz(func(t *testing.T, b []byte) { x.Hold(t, 1, func() { read(b) }) })`:       1,
		`f.Fuzz(func(t *testing.T, b []byte) { for range b { endless(t); check(t, b) }})`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", `package x
func FuzzX(f *testing.F) {
`+body+`
}
func check(t *testing.T, b []byte) { bound(t, func() { read(b) }) }
func bound(t *testing.T, f func()) { bounds.Hold(t, 1, f) }
func endless(t *testing.T) { endless(t) }
`, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n, got := unbound([]*ast.File{file}); n != 1 || len(got) != want {
			t.Errorf("%s: %v of %d, want %d", body, got, n, want)
		}
	}
}

// unbound returns how many fuzz tests a package has, and those whose functions, as far as they
// are the package's own, do not call bounds.Hold.
func unbound(files []*ast.File) (number int, names []string) {
	functions := map[string][]*ast.FuncDecl{}
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				functions[f.Name.Name] = append(functions[f.Name.Name], f)
			}
		}
	}
	for name, f := range functions {
		if !strings.HasPrefix(name, "Fuzz") || len(f[0].Type.Params.List) != 1 {
			continue
		}
		number++
		holds, seen, next := false, map[string]bool{}, []string{name}
		for len(next) > 0 && !holds {
			one := next[0]
			if next = next[1:]; seen[one] {
				continue
			}
			seen[one] = true
			for _, f := range functions[one] {
				ast.Inspect(f, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok {
						pkg, name := called(call)
						holds = holds || pkg == "bounds" && name == "Hold"
						next = append(next, name)
					}
					return true
				})
			}
		}
		if !holds {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return number, names
}
