package value_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/expression"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// printPy has gdb print expressions in frames.
const printPy = `
for level in PARAMS["frames"]:
    gdb.execute("frame %d" % level, to_string=True)
    for text in PARAMS["expressions"]:
        try:
            value = gdb.execute("print " + text, to_string=True).split(" = ", 1)
            emit({"Value": value[1].rstrip("\n") if len(value) > 1 else ""})
        except gdb.error as e:
            emit({"Error": str(e)})
emit({"end": True})
OUT.close()
`

// printedFrame is a frame with the values of expressions.
type printedFrame struct {
	Level    int
	Function string
	File     string
	Print    []printedValue
}

// printedValue is the text of an expression's value, or the error.
type printedValue struct{ Expression, Value, Error string }

// printIn prints expressions in frames of a process: frames of some levels, or, without any, all.
func printIn(t *testing.T, pid int, frames []int, expressions []string, p *value.Printer) (list []printedFrame) {
	t.Helper()
	eachFrame(t, attach(t, pid), func(_ target.Thread, f *logical.Frame, in *value.Frame) {
		if len(frames) > 0 && !slices.Contains(frames, f.Level) {
			return
		}
		x := printedFrame{Level: f.Level, Function: f.Function, File: f.File}
		for _, text := range expressions {
			x.Print = append(x.Print, printedIn(in, text, p))
		}
		list = append(list, x)
	})
	return list
}

func printedIn(in *value.Frame, text string, p *value.Printer) printedValue {
	v, err := in.Evaluate(text)
	if memory := (*value.MemoryError)(nil); err == nil && errors.As(v.Err(), &memory) {
		err = memory
	}
	wrong := (*expression.Error)(nil)
	switch {
	case errors.As(err, &wrong):
		return printedValue{text, "", fmt.Sprintf("%s at column %d", strings.TrimSuffix(wrong.What, "."), wrong.Column)}
	case err != nil:
		return printedValue{text, "", err.Error()}
	}
	return printedValue{text, p.Print(&v), ""}
}

// checkErrors checks the errors of expressions in the frames of a function.
func checkErrors(t *testing.T, pid int, function string, wants map[string]string) {
	t.Helper()
	for _, f := range printIn(t, pid, nil, slices.Sorted(maps.Keys(wants)), pretty) {
		if f.Function != function {
			continue
		}
		for _, x := range f.Print {
			if x.Error != wants[x.Expression] {
				t.Errorf("%s: %s%s, want %s", x.Expression, x.Value, x.Error, wants[x.Expression])
			}
		}
	}
}

// comparePrints compares values of expressions in frames with what gdb prints: the expressions are
// lines of a file. Its lines that begin with # are comments; one of "# frames: 1 2" tells the
// frames, of which 1 is the program's innermost.
func comparePrints(t *testing.T, program, file string) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var frames []int
	var expressions []string
	for _, line := range strings.Split(string(text), "\n") {
		if list, ok := strings.CutPrefix(line, "# frames: "); ok {
			for _, n := range strings.Fields(list) {
				level, err := strconv.Atoi(n)
				if err != nil {
					t.Fatal(err)
				}
				frames = append(frames, level)
			}
		} else if line != "" && line[0] != '#' {
			expressions = append(expressions, line)
		}
	}
	p := gdbtest.Start(t, program)
	inner := 1
	for _, f := range printIn(t, p.PID, nil, []string{"1"}, raw) { // libraries differ in how many frames read(2) takes
		if strings.Contains(f.File, "progs/expressions/") {
			inner = f.Level
			break
		}
	}
	for i := range frames {
		frames[i] += inner - 1
	}
	ours := printIn(t, p.PID, frames, expressions, raw)
	if len(ours) != len(frames) {
		t.Fatalf("%d frames, want %d", len(ours), len(frames))
	}
	script := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), printPy, map[string]any{"expressions": expressions, "frames": frames, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
	same, errors := 0, 0
	for i, level := range frames {
		for k, x := range expressions {
			var want struct{ Value, Error string }
			if record := script.Next(t); record == nil {
				t.Fatal("gdb evaluated fewer expressions")
			} else if err := json.Unmarshal(record, &want); err != nil {
				t.Fatal(err)
			}
			got := ours[i].Print[k]
			why, _, _ := strings.Cut(got.Error, " at column ")
			want.Error = strings.TrimSuffix(strings.ReplaceAll(want.Error, "\n", " "), ".")
			want.Error = strings.Join(strings.Fields(strings.Replace(want.Error, "no member or method named", "no member named", 1)), " ")
			why = strings.Join(strings.Fields(why), " ")
			if strings.HasPrefix(want.Error, "No symbol") && strings.HasPrefix(why, "No symbol") { // gdb names the part that is missing
				want.Error = why
			}
			switch {
			case valuetest.NewerPrints(x, want.Value, want.Error, got.Value):
			case got.Value != want.Value || (got.Error != "") != (want.Error != "") || why != want.Error:
				t.Errorf("#%d: %s: %s%s, gdb has %s%s", level, x, got.Value, got.Error, want.Value, want.Error)
			case got.Error != "":
				errors++
			default:
				same++
			}
		}
	}
	t.Logf("%d expressions in %d frames: %d values and %d errors are gdb's", len(expressions), len(frames), same, errors)
	if len(expressions) < 60 || same < len(expressions)/2 {
		t.Errorf("only %d expressions, and %d values", len(expressions), same)
	}
}

// TestPrintC compares expressions in a program of C with gdb's print.
func TestPrintC(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := gdbtest.Testdata(t, "progs", "expressions")
	program := valuetest.BuildExpressions(t, "-static")
	comparePrints(t, program, filepath.Join(dir, "c.txt"))
}

// TestPrintCXX compares expressions in a program of C++ with gdb's print.
func TestPrintCXX(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := gdbtest.Testdata(t, "progs", "expressions")
	program := gdbtest.Compile(t, filepath.Join(dir, "expressions.cc"), gdbtest.Tool(t, "g++"), "-static", "-g", "-O0", "-w")
	comparePrints(t, program, filepath.Join(dir, "cxx.txt"))
}

// TestPrintCasts compares expressions of C++ with casts, and with names that other scopes lend,
// with gdb's print.
func TestPrintCasts(t *testing.T) {
	gdbtest.NeedAMD64(t)
	comparePrints(t, buildCasts(t), filepath.Join(gdbtest.Testdata(t, "progs", "expressions"), "casts.txt"))
}

func buildCasts(t *testing.T) string {
	return gdbtest.Compile(t, filepath.Join(gdbtest.Testdata(t, "progs", "expressions"), "casts.cc"), gdbtest.Tool(t, "g++"), "-static", "-g", "-O0", "-w")
}

// TestPrintBetter evaluates expressions of C++ that gdb 13 refuses, or has wrong. The program's
// source and the language tell the values.
func TestPrintBetter(t *testing.T) {
	gdbtest.NeedAMD64(t)
	p := gdbtest.Start(t, buildCasts(t))
	wants := map[string]string{
		"int(3.9)": "3", "int(byte)": "200", "unsigned(negative)": "4294967240", "char(65)": "65 'A'", "bool(pp)": "true", "int(d) + 1": "-1",
		"float(1) / 2": "0.5", "alias::Grade(7)": "company::product::detail::Grade::high", "Outer::Level(2)": "Outer::two", "Outer::Level::two": "Outer::two",
		"company::product::Part::made": "40", "company::product::version": "2",
		"::secret": "99", "(anonymous namespace)::secret": "99", "(anonymous namespace)::within::kept": "97", "(anonymous namespace)::Hidden::seen": "98",
		"dynamic_cast<Bottom *>(root) == &bottom": "true", "dynamic_cast<Diamond *>(vbase) == &diamond": "true", "dynamic_cast<void *>(right) == &bottom": "true",
		"dynamic_cast<Diamond *>(root)": "(Diamond *) 0x0", "diamond.VLeft::vbase": "8", "bottom.Right::Root::root": "1", "*const_cast<int *>(&cv)": "9",
		"sizeof (company::product::detail::Table<int,company::product::detail::Part>)": "8",
	}
	var expressions []string
	for x := range wants {
		expressions = append(expressions, x)
	}
	n := 0
	for _, f := range printIn(t, p.PID, []int{1, 2, 3, 4, 5, 6}, expressions, raw) {
		if f.Function != "main" {
			continue
		}
		for _, x := range f.Print {
			if n++; x.Value != wants[x.Expression] || x.Error != "" {
				t.Errorf("%s: %s%s, want %s", x.Expression, x.Value, x.Error, wants[x.Expression])
			}
		}
	}
	if n != len(wants) {
		t.Errorf("%d values, want %d", n, len(wants))
	}
	// Errors point at the character.
	checkErrors(t, p.PID, "main", map[string]string{
		"static_cast<int>":         "the operand of a cast is missing at column 17",
		"static_cast<nothing>(1)":  "No symbol \"nothing\" in current context at column 13",
		"static_cast<int(1)":       "a type is missing at column 17",
		"1 + bottom.same":          "Request for member 'same' is ambiguous in type 'Bottom'. Candidates are: 'int Left::same' (Bottom -> Left) 'int Right::same' (Bottom -> Right) at column 12",
		"outer.plus(3)":            "nothing runs the function here: --print calls functions of live processes (attach, remote) at column 7",
		"plain.*ip":                "non-pointer-to-member value used in pointer-to-member construct at column 8",
		"reinterpret_cast<int>(d)": "Invalid reinterpret_cast at column 1",
		"alignof (nothing)":        "No symbol \"nothing\" in current context at column 10",
		"over(Plain *)":            "No symbol \"over(Plain*)\" in current context at column 1",
		"int = 3":                  "an expression cannot assign at column 5",
	})
}

// TestPrintContainers compares expressions with containers of C++'s library with the values that
// the program itself has for them.
func TestPrintContainers(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "containeroperators", "main.cc"), gdbtest.Tool(t, "g++"), "-std=c++17", "-g", "-O0", "-w")
	said := filepath.Join(t.TempDir(), "said")
	out, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(program)
	cmd.Stdout = out
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	var expressions, wants []string
	gdbtest.Await(t, "the program's values", func() bool {
		text, err := os.ReadFile(said)
		if err != nil || !strings.HasSuffix(string(text), "ready\n") {
			return false
		}
		for _, line := range strings.Split(string(text), "\n") {
			if x, v, ok := strings.Cut(line, "\t"); ok {
				expressions, wants = append(expressions, x), append(wants, v)
			}
		}
		return true
	})
	n := 0
	for _, f := range printIn(t, cmd.Process.Pid, nil, expressions, pretty) { // the program may still be deep in the write of its last line
		if f.Function != "main" {
			continue
		}
		for i, x := range f.Print {
			n++
			got := strings.NewReplacer("true", "1", "false", "0").Replace(x.Value)
			if got != wants[i] || x.Error != "" {
				t.Errorf("%s: %s%s, the program has %s", x.Expression, x.Value, x.Error, wants[i])
			}
		}
	}
	if n < 60 {
		t.Errorf("%d values", n)
	}
	checkErrors(t, cmd.Process.Pid, "main", map[string]string{
		`ages["eve"]`:          "the container has no such key at column 6",
		"numbers.at(3)":        "index 3 is outside of the container of 3 elements at column 12",
		"three[3]":             "index 3 is outside of the array of 3 elements at column 7",
		"*none":                "the optional has no value at column 1",
		"none.value()":         "the optional has no value at column 6",
		"empty.front()":        "the container is empty at column 7",
		"numbers.push_back(1)": "nothing runs the function here: --print calls functions of live processes (attach, remote) at column 9",
		"numbers.missing":      "There is no member named missing at column 9",
		"unique->z":            "There is no member named z at column 9",
	})
}

// printedAsGDB compares the values of expressions in frames of functions with gdb's. It returns the
// functions' levels, and how many values are equal.
func printedAsGDB(t *testing.T, p *gdbtest.Process, functions map[string][]string) (levels map[string]int, same int) {
	t.Helper()
	levels = map[string]int{}
	without := 0
	for _, f := range printIn(t, p.PID, nil, []string{"1"}, raw) {
		levels[f.Function] = f.Level
	}
	for function, expressions := range functions {
		level, ok := levels[function]
		if !ok {
			t.Errorf("no frame of %s: %v", function, levels)
			continue
		}
		ours := printIn(t, p.PID, []int{level}, expressions, raw)
		script := gdbtest.StartScript(t, gdbtest.Tool(t, "gdb"), printPy, map[string]any{"expressions": expressions, "frames": []int{level}, "names": map[string]string{}}, "-p", strconv.Itoa(p.PID))
		for k, x := range expressions {
			var want struct{ Value, Error string }
			if record := script.Next(t); record == nil {
				t.Fatal("gdb evaluated fewer expressions")
			} else if err := json.Unmarshal(record, &want); err != nil {
				t.Fatal(err)
			}
			got := ours[0].Print[k]
			why, _, _ := strings.Cut(got.Error, " at column ")
			refused := gdbtest.NotWritten(want.Error)
			want.Error = strings.ReplaceAll(strings.TrimSuffix(want.Error, "."), "'", `"`)
			switch {
			case refused:
				without++
			case sliceMember.MatchString(x) && got.Error == "" && strings.HasPrefix(want.Error, "Attempt to extract a component of a value that is not a structure"):
				// Since release 14, gdb takes a slice of Rust for an array. Where an older one
				// runs, the values are compared.
			case latin1.ReplaceAllStringFunc(got.Value, func(x string) string {
				n, _ := strconv.ParseUint(x[2:], 16, 8)
				return string(rune(n))
			}) == want.Value && got.Error == "" && got.Value != want.Value:
				// gdb 18 shows characters of Rust that have one byte in Latin-1.
			case got.Value != want.Value || why != want.Error:
				t.Errorf("%s: %s: %s%s, gdb has %s%s", function, x, got.Value, got.Error, want.Value, want.Error)
			case got.Error == "":
				same++
			}
		}
		script.Next(t)
	}
	if without > 0 {
		gdbtest.NoOracle(t, without, without+same, gdbtest.CannotWrite(t, "gdb"), "nothing")
	}
	return levels, same
}

// latin1 matches the escape of a character of Rust.
var latin1 = regexp.MustCompile(`\\x[a-f][0-9a-f]`)

// sliceMember matches an expression for a member of a slice of Rust.
var sliceMember = regexp.MustCompile(`^\w+\.(length|data_ptr)$`)

// checkPrinted checks values of expressions in a frame.
func checkPrinted(t *testing.T, p *gdbtest.Process, level int, wants map[string]string) {
	t.Helper()
	expressions := slices.Sorted(maps.Keys(wants))
	for _, got := range printIn(t, p.PID, []int{level}, expressions, raw)[0].Print {
		if got.Value != wants[got.Expression] {
			t.Errorf("%s: %s%s, want %s", got.Expression, got.Value, got.Error, wants[got.Expression])
		}
	}
}
