package python_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// calledBy has, for functions of testdata/busy.py, what the line of their caller has in its text.
var calledBy = map[string]string{
	"leaf": "leaf(", "middle": "middle(", "A.__init__": "A(", "A.__repr__": "repr(", "A.__lt__": "sorted(",
	"gen": "gen(", "uses_gen": "uses_gen(", "comp": "comp(", "comp.<locals>.<listcomp>": "[middle(", "<listcomp>": "[middle(",
	"key": "sorted(", "sorts": "sorts(", "lambdas": "lambdas(", "lambdas.<locals>.<lambda>": "map(", "<lambda>": "map(",
	"raises": "raises(", "thrower": "thrower(", "coro": "coro(", "coro2": "coro2(", "drives": "drives(", "recursion": "recursion(",
	"executes": "executes(", "<module>": "exec(",
	"__init__": "A(", "__repr__": "repr(", "__lt__": "sorted(", // before 3.11 there are no qualified names
}

// TestBusy looks at threads that run, at any moment, and holds each frame against the program's
// text: a frame must be called where its caller is, and have a line of its own function.
func TestBusy(t *testing.T) {
	program, err := filepath.Abs("testdata/busy.py")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	lines := append([]string{""}, strings.Split(string(text), "\n")...)
	function := functions(lines)
	looks := 20
	if os.Getenv("SFWALK_SOAK") == "1" {
		looks = 1000
	}
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p := gdbtest.StartRunning(t, interpreter, program)
			seen := 0
			for range looks {
				for thread, d := range walk(t, p.PID) {
					if d.Said == nil {
						t.Errorf("thread %#x has no frames", thread)
						continue
					}
					if len(d.Said.Warnings) > 0 {
						t.Errorf("thread %#x: %v", thread, d.Said.Warnings)
					}
					list := d.Frames()
					if wrong := check(list, program, lines, function); wrong != "" {
						t.Errorf("thread %#x: %s\n%s", thread, wrong, strings.Join(d.frames(), "\n"))
					}
					seen += len(list)
				}
			}
			if seen < looks*3*4 {
				t.Errorf("%d frames in %d looks", seen, looks)
			}
		})
	}
}

// check says what is wrong with frames, the innermost first; "" if nothing is.
func check(list []placed, program string, lines []string, function []string) string {
	if len(list) == 0 {
		return "no frames"
	}
	for i, f := range list {
		if f.File != program {
			continue // of the standard library, or of exec
		}
		if f.Line == 0 && (f.Function == "drives" || f.Function == "raises") {
			continue // the compiler gives some instructions of handlers no line
		}
		if f.Line < 1 || f.Line >= len(lines) {
			return f.Function + " has no line"
		}
		short := f.Function[strings.LastIndexByte(f.Function, '.')+1:]
		if function[f.Line] != short && !strings.HasPrefix(short, "<") {
			return f.Function + " has a line of " + function[f.Line]
		}
		if i == len(list)-1 {
			if f.Function != "<module>" {
				return f.Function + " is the outermost"
			}
			continue
		}
		caller := list[i+1]
		switch want := calledBy[f.Function]; {
		case f.Function == "work" && caller.Function != "<module>" && !strings.HasSuffix(caller.Function, "run"):
			return "work is called by " + caller.Function
		case f.Function == "work", caller.File == "<string>":
		case want == "":
			return f.Function + " is no function of the program"
		case caller.File != program || caller.Line < 1 || caller.Line >= len(lines):
			return f.Function + " is called by " + caller.Function
		case !strings.Contains(lines[caller.Line], want):
			return f.Function + " is called at the line " + lines[caller.Line]
		}
	}
	last := list[len(list)-1].Function
	if last != "<module>" && !strings.HasSuffix(last, "_bootstrap") {
		return "the outermost frame is " + last
	}
	return ""
}

// functions returns the name of the function to which each line belongs, "<module>" for none.
func functions(lines []string) (list []string) {
	name := "<module>"
	for _, line := range lines {
		bare := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(bare, "def "), strings.HasPrefix(bare, "async def "):
			name, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(bare, "async "), "def "), "(")
		case bare != "" && !strings.HasPrefix(line, " "):
			name = "<module>"
		}
		list = append(list, name)
	}
	return list
}
