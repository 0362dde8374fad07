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

// TestFuzzBounds reads all fuzz tests of the module: each bounds the memory and time that an input
// may take.
func TestFuzzBounds(t *testing.T) {
	packages, importable, number := map[string][]*ast.File{}, map[string][]*ast.File{}, 0
	module(t, func(name string, _ *token.FileSet, file *ast.File) {
		dir := filepath.Dir(name)
		packages[dir] = append(packages[dir], file)
		if !strings.HasSuffix(name, "_test.go") {
			importable[dir] = append(importable[dir], file)
		}
	})
	for dir, files := range packages {
		n, unbound := unbound(files, imported(importable, files))
		number += n
		for _, name := range unbound {
			t.Errorf("%s: %s does not come to bounds.Hold", dir, name)
		}
	}
	if number < 80 {
		t.Errorf("%d fuzz tests", number)
	}
}

// imported returns the files of the module's packages that files import: fuzz tests of several
// packages may be one.
func imported(importable map[string][]*ast.File, files []*ast.File) (list []*ast.File) {
	for _, file := range files {
		for _, spec := range file.Imports {
			if dir, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "github.com/sfwalk/sfwalk/"); ok {
				list = append(list, importable[dir]...)
			}
		}
	}
	return list
}

// TestUnbound shows which tests TestFuzzBounds finds.
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
		if n, got := unbound([]*ast.File{file}, nil); n != 1 || len(got) != want {
			t.Errorf("%s: %v of %d, want %d", body, got, n, want)
		}
	}
}

// declared returns the functions and methods of files by their names.
func declared(files []*ast.File) map[string][]*ast.FuncDecl {
	functions := map[string][]*ast.FuncDecl{}
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				functions[f.Name.Name] = append(functions[f.Name.Name], f)
			}
		}
	}
	return functions
}

// unbound returns how many fuzz tests a package has, and which of them have functions, the
// package's own or others', that do not call bounds.Hold.
func unbound(files, others []*ast.File) (number int, names []string) {
	own, foreign := declared(files), declared(others)
	for name, f := range own {
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
			for _, f := range slices.Concat(own[one], foreign[one]) {
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
