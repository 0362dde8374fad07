package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
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
	stdout, _, _ := execute(newAttach(nil), args...)
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
		if strings.Contains(f.File, "expressions.c") {
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
			want.Error = strings.Replace(want.Error, "no member or method named", "no member named", 1)
			if strings.HasPrefix(want.Error, "No symbol") && strings.HasPrefix(why, "No symbol") { // gdb names the part that is missing
				want.Error = why
			}
			switch {
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
