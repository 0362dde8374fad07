package command

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
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

// printedFrame is what the tests need of a frame in JSON.
type printedFrame struct {
	Level    int
	Function string
	File     string
	Print    []struct {
		Expression, Type, Value, Error string
		Address                        *string
		Register                       string
	}
}

// printIn prints expressions in frames of a process.
func printIn(t *testing.T, pid int, frames []int, expressions []string, flags ...string) []printedFrame {
	t.Helper()
	args := append([]string{strconv.Itoa(pid), "--json"}, flags...)
	for _, f := range frames {
		args = append(args, "--frame", strconv.Itoa(f))
	}
	for _, x := range expressions {
		args = append(args, "--print", x)
	}
	stdout, _, _ := commandtest.Execute(stacks.NewAttach(nil), args...)
	var doc struct {
		Threads []struct{ Frames []printedFrame }
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Threads) != 1 {
		t.Fatalf("%v: %s", err, stdout)
	}
	return doc.Threads[0].Frames
}

// comparePrints compares values of expressions in frames with those that gdb prints: the expressions are lines of a file.
// Its lines that begin with # are comments; one of "# frames: 1 2" tells the frames, of which 1 is the program's innermost.
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
	for _, f := range printIn(t, p.PID, nil, []string{"1"}) { // libraries differ in how many frames read(2) takes
		if strings.Contains(f.File, "progs/expressions/") {
			inner = f.Level
			break
		}
	}
	for i := range frames {
		frames[i] += inner - 1
	}
	ours := printIn(t, p.PID, frames, expressions, "--raw")
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
	program := buildExpressions(t, "-static")
	comparePrints(t, program, filepath.Join(dir, "c.txt"))
}

// TestPrintCXX compares expressions in a program of C++ with gdb's print.
func TestPrintCXX(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := gdbtest.Testdata(t, "progs", "expressions")
	program := gdbtest.Compile(t, filepath.Join(dir, "expressions.cc"), gdbtest.Tool(t, "g++"), "-static", "-g", "-O0", "-w")
	comparePrints(t, program, filepath.Join(dir, "cxx.txt"))
}

// TestPrintCasts compares expressions of C++ with casts, and with names that other scopes lend, with gdb's print.
func TestPrintCasts(t *testing.T) {
	gdbtest.NeedAMD64(t)
	comparePrints(t, buildCasts(t), filepath.Join(gdbtest.Testdata(t, "progs", "expressions"), "casts.txt"))
}

func buildCasts(t *testing.T) string {
	return gdbtest.Compile(t, filepath.Join(gdbtest.Testdata(t, "progs", "expressions"), "casts.cc"), gdbtest.Tool(t, "g++"), "-static", "-g", "-O0", "-w")
}

// TestPrintBetter evaluates expressions of C++ that gdb 13 refuses, or has wrong. The program's source and the language tell
// the values.
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
	for _, f := range printIn(t, p.PID, []int{1, 2, 3, 4, 5, 6}, expressions, "--raw") {
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
	for text, want := range map[string]string{
		"static_cast<int>":         "the operand of a cast is missing at column 17",
		"static_cast<nothing>(1)":  "No symbol \"nothing\" in current context at column 13",
		"static_cast<int(1)":       "a type is missing at column 17",
		"1 + bottom.same":          "Request for member 'same' is ambiguous in type 'Bottom'. Candidates are: 'int Left::same' (Bottom -> Left) 'int Right::same' (Bottom -> Right) at column 12",
		"outer.plus()":             "the function takes 1 argument, not 0 at column 7",
		"plain.*ip":                "non-pointer-to-member value used in pointer-to-member construct at column 8",
		"reinterpret_cast<int>(d)": "Invalid reinterpret_cast at column 1",
		"alignof (nothing)":        "No symbol \"nothing\" in current context at column 10",
		"over(Plain *)":            "No symbol \"over(Plain*)\" in current context at column 1",
		"int = 3":                  "an expression cannot assign at column 5",
	} {
		_, _, err := commandtest.Execute(stacks.NewAttach(nil), strconv.Itoa(p.PID), "--frame", "main", "--print", text)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestPrintContainers compares expressions with containers of C++'s library with the values that the program itself has for them.
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
	for _, f := range printIn(t, cmd.Process.Pid, []int{0, 1, 2, 3, 4}, expressions) {
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
	for text, want := range map[string]string{
		`ages["eve"]`:          "the container has no such key at column 6",
		"numbers.at(3)":        "index 3 is outside of the container of 3 elements at column 12",
		"three[3]":             "index 3 is outside of the array of 3 elements at column 7",
		"*none":                "the optional has no value at column 1",
		"none.value()":         "the optional has no value at column 6",
		"empty.front()":        "the container is empty at column 7",
		"numbers.push_back(1)": "There is no member named push_back at column 9",
		"numbers.missing":      "There is no member named missing at column 9",
		"unique->z":            "There is no member named z at column 9",
	} {
		_, _, err := commandtest.Execute(stacks.NewAttach(nil), strconv.Itoa(cmd.Process.Pid), "--frame", "main", "--print", text)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
