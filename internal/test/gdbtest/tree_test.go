//go:build linux

package gdbtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestOneSkip reads all tests of the module: none leaves itself out except through Missing and its
// neighbours, and none passes because a pattern of filepath.Glob matches no file.
func TestOneSkip(t *testing.T) {
	own := map[string]bool{"internal/test/gdbtest/skip.go": true, "internal/test/gdbtest/build.go": true}
	for name, found := range tests(t, silent) {
		for _, what := range found {
			if !own[name] {
				t.Errorf("%s:%s", name, what)
			}
		}
	}
}

// mayTime are the files that sleep, or let time pass, for another purpose than to wait.
var mayTime = map[string]string{
	"internal/test/gdbtest/await.go":                        "Await itself",
	"internal/test/gdbtest/full.go":                         "gdb may take hours for one picture",
	"internal/test/gdbtest/writes.go":                       "a gdb that cannot write registers may wait for ever",
	"internal/test/systemtest/processors_test.go":           "it says how long a boot takes",
	"internal/command/stacks/tasksheld_linux_test.go":       "a list of tasks that takes long is what it tests",
	"sniffer/runtimes_linux_test.go":                        "any moment is right to stop a busy program at",
	"internal/command/stacks/locals_programs_linux_test.go": "counts how often it does",
	"internal/test/bounds/bounds.go":                        "what is looked at each time is the CPU time",
	"target/remote/wire_test.go":                            "the wire has a time of its own",
	"internal/bench/command/command_test.go":                "what is ended does not end by itself",
	"internal/bench/process/process_test.go":                "the pause is what is measured, and may be longer",
	"sniffer/gosteps_guest_linux_test.go":                   "what qemu's stub has lost is sent again after a silence",
	"delve/server/call_test.go":                             "signals come again and again while a call is under way",
	"internal/plugincheck/check_linux_test.go":              "what is cancelled does not end by itself",
	"sniffer/external/hostile_main_linux_test.go":           "TestMain has no testing.T",
	"sniffer/external/hostile_process_linux_test.go":        "any moment is right to be killed at",
	"sniffer/external/hostile_start_linux_test.go":          "what is cancelled does not end by itself",
	"internal/test/systemtest/guest_linux.go":               "a kernel that does not boot says nothing",
	"internal/test/systemtest/system_test.go":               "it says how long a boot takes",
	"target/live/main_linux_test.go":                        "a process that holds another one",
}

// TestNoTime reads all tests of the module: none asserts a wall time, and none sleeps to wait for
// something. Either fails on a slow machine.
func TestNoTime(t *testing.T) {
	timed := tests(t, timed)
	for name, found := range timed {
		for _, what := range found {
			if mayTime[name] == "" {
				t.Errorf("%s:%s", name, what)
			}
		}
	}
	for name := range mayTime {
		if len(timed[name]) == 0 {
			t.Errorf("%s need not be an exception", name)
		}
	}
}

// tests returns the places that look finds in the module's test files, with its reason by line.
func tests(t *testing.T, look func(*ast.File) map[token.Pos]string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	module(t, func(name string, set *token.FileSet, file *ast.File) {
		for at, what := range look(file) {
			all[name] = append(all[name], fmt.Sprintf("%d: %s", set.Position(at).Line, what))
		}
	})
	return all
}

// module reads the module's files with tests.
func module(t *testing.T, each func(name string, set *token.FileSet, file *ast.File)) {
	t.Helper()
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
		if imports(file, "testing") {
			files++
			each(name, set, file)
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestNamedInMakefile reads the lists of tests in the Makefile: each is there. A test that got
// another name would run with others than it is listed for, or not at all.
func TestNamedInMakefile(t *testing.T) {
	text, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	module(t, func(_ string, _ *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				known[f.Name.Name] = true
			}
		}
	})
	names := regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(string(text), -1)
	if len(names) < 40 {
		t.Errorf("the Makefile has %d names of tests", len(names))
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("there is no test %s, which the Makefile lists", name)
		}
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

// TestTimed shows what TestNoTime finds.
func TestTimed(t *testing.T) {
	for body, want := range map[string]int{
		`time.Sleep(time.Second)`:                                        1,
		`if time.Since(began) > 3*time.Second { panic(0) }`:              1,
		`select { case <-done: case <-time.After(20 * time.Second): }`:   1,
		`c, x := context.WithTimeout(t.Context(), time.Minute)`:          1,
		`conn.SetReadDeadline(time.Now().Add(time.Second))`:              1,
		`for until := time.Now().Add(1); time.Now().Before(until); {}`:   1,
		`select { case <-time.After(time.Until(gdbtest.Deadline(t))): }`: 0,
		`conn.SetReadDeadline(gdbtest.Deadline(t))`:                      0,
		`began := time.Now(); t.Log(began)`:                              0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\nfunc f() {\n"+body+"\n}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := timed(file); len(got) != want {
			t.Errorf("%s: %v, want %d", body, got, want)
		}
	}
}

// timed returns where a test looks at the clock to judge something, or to wait.
func timed(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		pkg, name := called(call)
		switch {
		case pkg == "time" && (name == "Sleep" || name == "Tick" || name == "NewTimer" || name == "NewTicker"),
			pkg == "time" && (name == "After" || name == "AfterFunc") && !mentions(call, "Deadline"),
			pkg == "context" && name == "WithTimeout",
			strings.HasPrefix(name, "Set") && strings.HasSuffix(name, "Deadline") && mentions(call, "Now"),
			(name == "Before" || name == "After") && pkg != "time" && mentions(call, "Now"):
			found[n.Pos()] = name + ": wait for what is to come about (Await), as long as the tests may take (Deadline)"
		case pkg == "time" && name == "Since":
			found[n.Pos()] = "time.Since: what it takes depends on the machine; bound the CPU time (bounds.CPUTime)"
		}
		return true
	})
	return found
}

// mentions reports whether a function of that name is called within.
func mentions(within ast.Node, name string) (found bool) {
	ast.Inspect(within, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			_, called := called(call)
			found = found || called == name
		}
		return true
	})
	return found
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
				switch of, name := called(n); {
				case (name == "Skip" || name == "Skipf" || name == "SkipNow") && of != "c": // a cursor over attributes
					found[n.Pos()] = name + ": gdbtest decides what is left out: Tool, File, Missing, Cannot, Share, NeedSoak"
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

// TestOneDelve: the dlv that tools/go.mod has the tests run is of the release that sfwalk's own
// module links.
func TestOneDelve(t *testing.T) {
	line, found := regexp.MustCompile(`(?m)^\s*github\.com/go-delve/delve (v\S+)`), map[string]string{}
	for _, file := range []string{"go.mod", "tools/go.mod"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(Testdata(t)), file))
		if err != nil {
			t.Fatal(err)
		}
		if m := line.FindStringSubmatch(string(text)); m != nil {
			found[file] = m[1]
		}
	}
	if found["go.mod"] == "" || found["go.mod"] != found["tools/go.mod"] {
		t.Errorf("releases of Delve: %v", found)
	}
}
