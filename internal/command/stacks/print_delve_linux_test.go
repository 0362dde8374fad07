//go:build linux && amd64

package stacks_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/internal/command/stacks"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestPrintAsDelve compares expressions of Go with Delve's values of them in the same frames. Its
// expressions are lines of a file, below the names of functions.
func TestPrintAsDelve(t *testing.T) {
	gdbtest.NeedAMD64(t)
	text, err := os.ReadFile(gdbtest.Testdata(t, "progs", "expressions", "go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	expressions := make(map[string][]string)
	function := ""
	for _, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "# func "); ok {
			function = name
		} else if line != "" && line[0] != '#' {
			expressions[function] = append(expressions[function], line)
		}
	}
	p := gdbtest.Start(t, gdbtest.Build(t, "govalues", "-gcflags=all=-N -l"))
	wants := evaluatedByDelve(t, p.PID, expressions)
	levels := make(map[string]printedFrame)
	stdout, _, _ := commandtest.Execute(stacks.NewAttach(nil), strconv.Itoa(p.PID), "--json")
	var stacks struct {
		Threads []struct{ Frames []printedFrame }
	}
	if err := json.Unmarshal([]byte(stdout), &stacks); err != nil {
		t.Fatal(err)
	}
	for _, th := range stacks.Threads {
		for _, f := range th.Frames {
			if name := withoutTypes(f.Function); levels[name].Function == "" {
				levels[name] = f
			}
		}
	}
	same, wrong := 0, 0
	for function, list := range expressions {
		args := []string{strconv.Itoa(p.PID), "--json", "--frame", strconv.Itoa(levels[function].Level)}
		for _, x := range list {
			args = append(args, "--print", x)
		}
		stdout, stderr, _ := commandtest.Run(append([]string{"attach"}, args...)...)
		var doc struct {
			Threads []struct{ Frames []printedFrame }
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
			t.Fatal(err, stderr)
		}
		n := 0
		for _, th := range doc.Threads {
			for _, f := range th.Frames {
				if withoutTypes(f.Function) != function {
					continue // of another thread
				}
				for i, x := range f.Print {
					n++
					want := wants[function][i]
					switch {
					case x.Error == "" && x.Value == want.value:
						same++
					case x.Error != "" && want.err != nil:
						wrong++
					default:
						t.Errorf("%s: %s: %s%s, Delve has %s %v", function, x.Expression, x.Value, x.Error, want.value, want.err)
					}
				}
			}
		}
		if n < len(list) {
			t.Errorf("%s: %d of %d expressions", function, n, len(list))
		}
	}
	t.Logf("%d values and %d errors are Delve's", same, wrong)
	if same < 80 {
		t.Errorf("%d values are Delve's", same)
	}
}

// withoutTypes returns the name of a function without the types that it is instantiated with.
func withoutTypes(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}

type delveResult struct {
	value string
	err   error
}

// evaluatedByDelve evaluates expressions by Delve in the first frames of functions.
func evaluatedByDelve(t *testing.T, pid int, expressions map[string][]string) map[string][]delveResult {
	t.Helper()
	grp := delvetest.Attach(t, pid)
	defer grp.Detach(false)
	limits := proc.LoadConfig{FollowPointers: true, MaxVariableRecurse: 1, MaxStringLen: 200, MaxArrayValues: 200, MaxStructFields: -1}
	tgt := grp.Selected
	out := make(map[string][]delveResult)
	for _, th := range tgt.ThreadList() {
		stack, err := proc.ThreadStacktrace(tgt, th, 50)
		if err != nil {
			continue
		}
		g, _ := proc.GetG(th)
		for i := range stack {
			fn := stack[i].Current.Fn
			if fn == nil || out[withoutTypes(fn.Name)] != nil {
				continue
			}
			for _, x := range expressions[withoutTypes(fn.Name)] {
				scope := proc.FrameToScope(tgt, th.ProcessMemory(), g, th.ThreadID(), stack[i:]...)
				v, err := scope.EvalExpression(x, limits)
				r := delveResult{err: err}
				if err == nil && v.Unreadable != nil {
					r.err = v.Unreadable
				} else if err == nil {
					r.value = api.ConvertVar(v).SinglelineString()
				}
				out[withoutTypes(fn.Name)] = append(out[withoutTypes(fn.Name)], r)
			}
		}
	}
	return out
}

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
