//go:build linux

package gdbtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestOneSkip reads all tests of the module: none leaves itself out but by Missing and what
// stands beside it, and no file that it reads vanishes in silence.
func TestOneSkip(t *testing.T) {
	root, files := filepath.Dir(Testdata(t)), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if imports(file, "testing") && name != "internal/gdbtest/skip.go" && name != "internal/gdbtest/build.go" {
			files++
			for at, what := range silent(file) {
				t.Errorf("%s:%d: %s", name, set.Position(at).Line, what)
			}
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestSilent shows what TestOneSkip finds.
func TestSilent(t *testing.T) {
	for body, want := range map[string]int{
		`t.Skip("no gcc")`:                         1,
		`if x { b.Skipf("no %s", x) }`:             1,
		`func() { t.SkipNow() }()`:                 1,
		`if testing.Short() { return }`:            1,
		`list, _ := filepath.Glob("testdata/*.o")`: 1,
		`list, err := filepath.Glob(dir + "/*.o")`: 1,
		`x, err := filepath.Glob(a); f(len(x))`:    0,
		`x, _ := filepath.Glob("/proc/*/exe")`:     0,
		`gdbtest.Missing(t, "gcc")`:                0,
		`return filepath.SkipDir`:                  0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\nfunc f() {\n"+body+"\n}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := silent(file); len(got) != want {
			t.Errorf("%s: %v, want %d", body, got, want)
		}
	}
}

func imports(file *ast.File, path string) bool {
	for _, i := range file.Imports {
		if i.Path.Value == strconv.Quote(path) {
			return true
		}
	}
	return false
}

// silent returns where a test leaves out something by itself, and what to do instead.
func silent(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	for _, decl := range file.Decls {
		globs, counted := map[string]token.Pos{}, map[string]bool{}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				switch _, name := called(n); {
				case name == "Skip" || name == "Skipf" || name == "SkipNow":
					found[n.Pos()] = name + ": gdbtest decides what is left out: Tool, File, Missing, Cannot, NeedSoak"
				case name == "Short" && len(n.Args) == 0:
					found[n.Pos()] = "testing.Short: gdbtest.NeedSoak is for what takes long"
				case name == "len" && len(n.Args) == 1:
					if i, ok := n.Args[0].(*ast.Ident); ok {
						counted[i.Name] = true
					}
				}
			case *ast.AssignStmt:
				call, ok := n.Rhs[0].(*ast.CallExpr)
				list, named := n.Lhs[0].(*ast.Ident)
				if pkg, name := called(call); ok && len(call.Args) > 0 && named && pkg == "filepath" && name == "Glob" && !strings.HasPrefix(text(call.Args[0]), "/proc/") {
					globs[list.Name] = n.Pos()
				}
			case *ast.BasicLit:
				if path := text(n); strings.HasPrefix(path, "/usr/lib/"+"gcc/") {
					found[n.Pos()] = path + " is another path with each release of gcc: ask gcc -print-prog-name"
				}
			}
			return true
		})
		for list, at := range globs {
			if !counted[list] {
				found[at] = "filepath.Glob: what matches nothing is an error: gdbtest.Glob"
			}
		}
	}
	return found
}

// called returns the name of the function that is called, and of its package or receiver.
func called(call *ast.CallExpr) (of, name string) {
	if call == nil {
		return "", ""
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return "", f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
		return of, f.Sel.Name
	}
	return "", ""
}

// text returns the string that an expression begins with, if it is a constant's.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil {
			return s
		}
	case *ast.CallExpr:
		if len(e.Args) > 0 {
			return text(e.Args[0])
		}
	}
	return ""
}
