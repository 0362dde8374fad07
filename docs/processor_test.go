package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// knowProcessors are the files outside arch that say something of a processor by its name or
// number, and why.
var knowProcessors = map[string]string{
	"format/elf/machine.go":           "the ELF supplements of processors: readers of formats know no descriptors",
	"format/minidump/microdump.go":    "names of processors in microdumps",
	"format/sframe/fromcfi/source.go": "SFrame's own numbers of processors",
	"cmd/sniffer-perfmap/sniffer.go":  "a program of its own, with a reader of V8's code for each processor",
}

// processorNames are the names by which Go, ELF and we know processors.
var processorNames = regexp.MustCompile(`^"(amd64|arm64|s390x|386|i386|arm|x86-64|aarch64)"$`)

// TestProcessorsInTheirDescriptors: code outside arch asks no descriptor for its name, and has no
// switch over machines. What depends on the processor is a field of the descriptor.
func TestProcessorsInTheirDescriptors(t *testing.T) {
	files, found := 0, map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "arch" || name == "tools" || name == "examples" || name == "internal/test" || name == "internal/bench" || d.Name() == "testdata" || d.Name() == ".git" || d.Name() == ".cache"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var asked []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					asked = []ast.Expr{n.X, n.Y}
				}
			case *ast.CaseClause:
				asked = n.List
			case *ast.IndexExpr:
				if s, ok := n.Index.(*ast.SelectorExpr); ok && s.Sel.Name == "Name" {
					if a, ok := s.X.(*ast.SelectorExpr); ok && a.Sel.Name == "Arch" {
						asked = []ast.Expr{n.Index}
					}
				}
			case *ast.KeyValueExpr:
				asked = []ast.Expr{n.Key}
			}
			for _, x := range asked {
				if ofProcessor(x) {
					found[name] = true
					if knowProcessors[name] == "" {
						t.Errorf("%v: what depends on the processor is a field of its descriptor (package arch)", set.Position(x.Pos()))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range knowProcessors {
		if !found[name] {
			t.Errorf("%s knows no processor any more: take it off the list", name)
		}
	}
	if files < 500 {
		t.Errorf("%d files read", files)
	}
}

// ofProcessor reports whether x is a processor: its name, its number in ELF files, its descriptor,
// or a descriptor's name.
func ofProcessor(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return processorNames.MatchString(x.Value)
	case *ast.SelectorExpr:
		if x.Sel.Name == "Name" {
			a, ok := x.X.(*ast.SelectorExpr)
			return ok && a.Sel.Name == "Arch"
		}
		of, ok := x.X.(*ast.Ident)
		return ok && (strings.HasPrefix(x.Sel.Name, "EM_") && x.Sel.Name != "EM_NONE" || x.Sel.Name == "Arch" && processorNames.MatchString(`"`+of.Name+`"`))
	}
	return false
}
