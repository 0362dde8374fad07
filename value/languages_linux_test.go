package value_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// localsPy has gdb print the local variables of the frames that have lines of a file.
const localsPy = `
frame = gdb.newest_frame()
while frame is not None:
    sal = frame.find_sal()
    if sal.symtab is not None and ("/" + sal.symtab.filename).endswith(PARAMS["file"]):
        frame.select()
        emit({"Line": sal.line, "Locals": gdb.execute("info locals", to_string=True), "Function": frame.name()})
    frame = frame.older()
emit({"end": True})
OUT.close()
`

// compareLocals compares the local variables of a program in the frames that have lines of a file
// with gdb's. known are variables that gdb has wrong, or in another way, with what is right.
func compareLocals(t *testing.T, program, file string, known map[string]string, least int) {
	t.Helper()
	p := gdbtest.Start(t, program)
	threads, _ := locals(t, attach(t, p.PID), pretty)
	ours := make(map[string][]gdbtest.FullLocal)
	functions := make(map[string]string)
	for _, th := range threads {
		for _, f := range th.Frames {
			ours[f.Place], functions[f.Place] = f.Locals, f.Function
		}
	}
	script := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), localsPy, map[string]any{"file": file, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
	same := 0
	for {
		var want struct {
			Line     int
			Locals   string
			Function string
			End      bool
		}
		record := script.Next(t)
		if record == nil {
			break
		}
		if err := json.Unmarshal(record, &want); err != nil {
			t.Fatal(err)
		}
		if want.End {
			break
		}
		var locals []gdbtest.FullLocal
		for place, list := range ours {
			if strings.HasSuffix("/"+place, file+":"+strconv.Itoa(want.Line)) {
				locals = list
				if functions[place] != want.Function {
					t.Errorf("line %d: the function is %s, gdb has %s", want.Line, functions[place], want.Function)
				}
			}
		}
		values := make(map[string]string)
		for _, line := range strings.Split(want.Locals, "\n") {
			if name, value, ok := strings.Cut(line, " = "); ok {
				values[name] = value
			}
		}
		for _, x := range locals {
			value, ok := values[x.Name]
			if right := known[x.Name]; right != "" {
				value, ok = right, true
			}
			switch {
			case !ok:
				t.Errorf("line %d: %s = %s, gdb has none", want.Line, x.Name, x.Text)
			case x.Text != value:
				t.Errorf("line %d: %s = %s, gdb has %s", want.Line, x.Name, x.Text, value)
			default:
				same++
			}
			delete(values, x.Name)
		}
		for name, value := range values {
			t.Errorf("line %d: gdb has %s = %s", want.Line, name, value)
		}
	}
	t.Logf("%d variables are as gdb has them", same)
	if same < least {
		t.Errorf("%d variables are as gdb has them", same)
	}
}

// TestFortranAsGDB compares local variables of Fortran: arrays with descriptors, texts, derived
// types, common blocks.
func TestFortranAsGDB(t *testing.T) {
	compiler := valuetest.NeedCompiler(t, "gfortran")
	dir := t.TempDir()
	program := filepath.Join(dir, "values")
	build := exec.Command(compiler, "-g", "-O0", "-w", "-J", dir, "-o", program, gdbtest.Testdata(t, "progs", "fortran", "values.f90"))
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatal(string(said))
	}
	compareLocals(t, program, "/values.f90", nil, 30)

	p := gdbtest.Start(t, program)
	_, same := printedAsGDB(t, p, map[string][]string{
		"MAIN__": {
			"m(1,2)", "m(2,3)", "M(1,1)", "m(3,1)", "m(1)", "a(3)", "a(0)", "neg(-1)", "origin%x", "ORIGIN%name", "i", "z", "words(2)", "al(1,1)", "al(2,1)", "ptr(2)",
			"s", "a(i)", "yes", "counter", "store::counter", "sizeof(m)", "m", "p3%list(3)", "p3%flag", "pts(1)%x", "pts(2)%name", "p3%point%x", "pt", "i + a(2)",
			"a(2) == 2", "a(2) > 5", "heap(2)", "shared_i", "nothing",
		},
		"store::inner": {"grid(1,1)", "grid(2,1)", "text", "n", "auto(2)", "p", "tt", "origin%y", "heap(1)", "counter"},
	})
	if t.Logf("%d values are gdb's", same); same < 35 {
		t.Error("too few values")
	}
}

// TestAdaAsGDB compares local variables of Ada: records, arrays with bounds, fixed-point numbers.
func TestAdaAsGDB(t *testing.T) {
	compiler := valuetest.NeedCompiler(t, "gnatmake")
	dir := t.TempDir()
	source, err := os.ReadFile(gdbtest.Testdata(t, "progs", "ada", "values.adb"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "values.adb"), source, 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command(compiler, "-g", "-O0", "-q", "values.adb", "-o", "program")
	build.Dir = dir
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatal(string(said))
	}
	compareLocals(t, filepath.Join(dir, "program"), "/values.adb", map[string]string{
		"c":  `0 '\000'`, // gdb has Ada's own '["00"]'
		"sh": `(k => circle, name => "abc", <variant not known>)`, "sq": `(k => square, name => "def", <variant not known>)`,
	}, 25)
}

// TestUnknownLanguage compares variables of a program whose DW_AT_language is a number that no
// version of DWARF has: gdb writes them as C's.
func TestUnknownLanguage(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	const source = `#include <stdio.h>
#include <unistd.h>
enum kind { one, two };
struct point { int x; double y; struct point *next; };
int
main (void)
{
  struct point p = { 1, 2.5, &p }, *to = &p;
  const char *text = "a \"text\"";
  unsigned char c = 'c';
  int list[3] = { 1, 2, -3 };
  enum kind k = two;
  _Bool yes = 1;
  union { int i; float f; } u = { 1 };
  long long big = -5000000000;
  int (*function) (void) = main;
  puts ("ready");
  fflush (stdout);
  for (;;)
    pause ();
  return p.x + to->x + text[0] + c + list[0] + k + yes + u.i + big + (function != 0);
}
`
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(gdbtest.Tool(t, "gcc"), args...)
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	if err := os.WriteFile(file("language.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	run("-g", "-O0", "-w", "-dA", "-S", "language.c")
	text, err := os.ReadFile(file("language.s"))
	if err != nil {
		t.Fatal(err)
	}
	language := regexp.MustCompile(`\.byte\t0x[0-9a-f]+(\t# DW_AT_language)`)
	if n := len(language.FindAll(text, -1)); n != 1 {
		t.Fatalf("the compiler has written %d languages", n)
	}
	if err := os.WriteFile(file("language.s"), language.ReplaceAll(text, []byte(".byte\t0x7e$1")), 0o600); err != nil {
		t.Fatal(err)
	}
	run("-o", "language", "language.s")
	compareLocals(t, file("language"), "/language.c", nil, 10)
}
