package plugin

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestAPI holds what authors have compiled against: all that package plugin exported when
// its first version was published, and what it uses of trad and arch. testdata/api-v1.txt has
// it, a line for each name. Names are added, to the file as well; none goes or changes.
func TestAPI(t *testing.T) {
	is := slices.Concat(exported(t, "."), exported(t, "../trad"), exported(t, "../arch"))
	data, err := os.ReadFile("testdata/api-v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(was) < 80 {
		t.Errorf("there were only %d names?", len(was))
	}
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("a plug-in that needs this does not compile any more: %s", line)
		}
	}
	for _, line := range is {
		if strings.HasPrefix(line, "plugin: ") && !slices.Contains(was, line) {
			t.Errorf("new, to be added to testdata/api-v1.txt before it is published: %s", line)
		}
	}
}

// exported lists what a package exports: functions, methods, types with their fields, variables
// and constants, each in a line. The methods of an interface are one line, since an author
// implements all of them.
func exported(t *testing.T, folder string) (list []string) {
	t.Helper()
	for _, name := range gdbtest.Glob(t, filepath.Join(folder, "*.go")) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		add := func(parts ...string) { list = append(list, file.Name.Name+": "+strings.Join(parts, " ")) }
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				receiver := ""
				if d.Recv != nil {
					receiver = "(" + source(d.Recv.List[0].Type) + ") "
				}
				if d.Name.IsExported() && (receiver == "" || ast.IsExported(strings.TrimLeft(receiver, "(*"))) {
					add("func", receiver+d.Name.Name+signature(d.Type))
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							exportedType(s, add)
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							if n.IsExported() {
								add(d.Tok.String(), n.Name)
							}
						}
					}
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

func exportedType(s *ast.TypeSpec, add func(...string)) {
	switch x := s.Type.(type) {
	case *ast.StructType:
		add("type", s.Name.Name, "struct")
		for _, f := range x.Fields.List {
			for _, n := range f.Names {
				if n.IsExported() {
					add("field", s.Name.Name+"."+n.Name, source(f.Type))
				}
			}
			if len(f.Names) == 0 {
				add("embedded", s.Name.Name+"."+source(f.Type))
			}
		}
	case *ast.InterfaceType:
		var methods []string
		for _, m := range x.Methods.List {
			if f, ok := m.Type.(*ast.FuncType); ok {
				methods = append(methods, m.Names[0].Name+signature(f))
			} else {
				methods = append(methods, source(m.Type))
			}
		}
		add("type", s.Name.Name, "interface {", strings.Join(methods, "; "), "}")
	case *ast.FuncType:
		add("type", s.Name.Name, "func"+signature(x))
	default:
		add("type", s.Name.Name, source(s.Type))
	}
}

// signature is a function's types, without names, which may change.
func signature(f *ast.FuncType) string {
	types := func(list *ast.FieldList) string {
		var parts []string
		if list != nil {
			for _, p := range list.List {
				for range max(len(p.Names), 1) {
					parts = append(parts, source(p.Type))
				}
			}
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return types(f.Params) + " " + types(f.Results)
}

func source(x ast.Expr) string {
	var b bytes.Buffer
	printer.Fprint(&b, token.NewFileSet(), x)
	return b.String()
}
