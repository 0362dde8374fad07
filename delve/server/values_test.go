//go:build linux && (amd64 || arm64)

package server_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-delve/delve/service/debugger"
	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// buildValues builds delvevalues with debug information; optimize is -O0 or -O2, for C and C++.
func buildValues(t testing.TB, optimize string) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "cc")
	gdbtest.Tool(t, "c++")
	return gdbtest.Build(t, "delvevalues", "CGO_ENABLED=1", "CGO_CFLAGS=-g "+optimize, "CGO_CXXFLAGS=-g "+optimize, "-gcflags=all=-N -l")
}

var optimized = []string{"-O0", "-O2"}

// frameOf returns the number of the frame of a function, as dlv shows a goroutine's stack.
func frameOf(t testing.TB, stack []frame, function string) string {
	t.Helper()
	i := slices.IndexFunc(stack, func(f frame) bool { return f.function == function })
	if i < 0 {
		t.Fatalf("no frame of %s: %v", function, functions(stack))
	}
	return strconv.Itoa(i)
}

// The real dlv shows arguments and locals of C and C++, with the values that the source of
// delvevalues gives them.
func TestDlvValues(t *testing.T) {
	for _, optimize := range optimized {
		t.Run(optimize, func(t *testing.T) {
			addr := attach(t, gdbtest.StartRunning(t, buildValues(t, optimize)), true).addr
			begin := dlv(t, []string{"goroutine 1", "stack", "goroutines -t 50", "exit -d", "n"}, "connect", addr)
			stack := stackOf(begin[1])
			back := ""
			for _, one := range strings.Split(begin[2], "Goroutine ") {
				if strings.Contains(one, " in main.goBack\n") {
					back, _, _ = strings.Cut(one, " ")
				}
			}
			if back == "" {
				t.Fatalf("no goroutine is in goBack:\n%s", begin[2])
			}
			number := strings.NewReplacer("%inner", frameOf(t, stack, "C.c_inner"), "%waits", frameOf(t, stack, "C.c_waits"), "%method", frameOf(t, stack, "C.ns::holder<int>::waits"),
				"%cxx", frameOf(t, stack, "C.cxx_waits"), "%end", frameOf(t, stack, "C.c_ends"), "%go", frameOf(t, stack, "main.begins"), "%back", back)
			last := map[bool]string{true: `4`, false: `(unreadable optimized out)`}[optimize == "-O0"]
			steps := []step{
				{"goroutine 1", ""},
				{"frame %end args", `^n = ` + regexp.QuoteMeta(last) + `\n$`},
				{"frame %end locals", `^end = "the end"\n$`},
				{"frame %inner args", `by_value = struct point {x: 30, y: 40}\n$`},
				{"frame %inner locals", `^shadowed = 43\nyes = true\nnegative = '\\371' \(-7\)\nlarge = 18446744073709551615\nhalf = 2\.5\nthird = 0\.100000001\n` +
					`wide_double = 1\.25\nz = \(1\.5 \+ 2i\)\ncolor = GREEN \(5\)\nset = FIRST \| THIRD \(5\)\nletter = 'x' \(120\)\nquote = '\\'' \(39\)\nparen = '\)' \(41\)\n` +
					`wide = "wïde"\nbuffer = "buffer\\n\\"quoted\\""\nmatrix = int \[2\]\[3\] \[\.\.\.\]\npoints = struct point \[3\] \[\.\.\.\]\nnull = \*struct point nil\n` +
					`bad = \(struct point \*\)\(0x8\)\nto_pointer = \(struct point \*\*\)\(0x[0-9a-f]+\)\nnothing = \(void \*\)\(0x[0-9a-f]+\)\nself = \(void \*\)\(0x[0-9a-f]+\)\n` +
					`no_text = \*const char nil\nbad_text = \(const char \*\)\(0x10\)\n\(shadowed\) = 1\nsum = 0\nsized = int \[5\] \[\.\.\.\]\nbytes = "\\x01\\x00\\xffA"\n$`},
				{"frame %inner print matrix", `^int \[2\]\[3\] \[\n\t\[1,2,3\],\n\t\[4,5,6\],\n\]\n$`},
				{"frame %inner print points", `^struct point \[3\] \[\n\t{x: 1, y: 2},\n\t{x: 3, y: 4},\n\t{x: 5, y: 6},\n\]\n$`},
				{"frame %inner print sized", `^int \[5\] \[0,1,4,9,16\]\n$`},
				{"frame %inner print bad", `^\(struct point \*\)\(0x8\)\n\*\(unreadable Cannot access memory at address 0x8\)\n`},
				{"frame %inner print to_pointer", `^\(struct point \*\*\)\(0x[0-9a-f]+\)\n\*\*struct point {x: 10, y: 20}\n$`},
				{"frame %inner print shadowed", `^43\n$`},
				{"frame %inner print %x color", `^5\n$`},
				{"frame %inner print %x letter", `^78\n$`},
				{"frame %inner whatis color", `^enum color\n`},
				{"frame %inner print no_such_variable", `^Command failed: C\.c_inner: "no_such_variable": No symbol .*; and `},
				{"frame %inner print by_value.x + 2*sum", `^30\n$`},
				{"frame %inner print &points[1]", `^\(struct point \*\)\(0x[0-9a-f]+\)\n\*struct point {x: 3, y: 4}\n$`},
				{"frame %inner print (*to_pointer)->y", `^20\n$`},
				{"frame %waits print all.p.x == 10 && first.next->number == 2", `^(true|1)\n$`},
				{"frame %waits print first.next->next->name", `^"three"\n$`},
				{"frame %method print this->held + 1", `^5\n$`},
				{"frame %method print main.goTurn", `^main\.goTurn\n$`}, // Delve's

				{"frame %waits print all", `(?s)^struct all {\n\tc: 'c' \(99\),\n\tu: '\\310' \(200\),\n\ts: -300,\n\tbits: 5,\n\tsbits: -3,\n\tp: struct point {x: 10, y: 20},\n\tlist: int \[4\] \[7,7,7,7\],\n` +
					`\tcolor: BLUE \(6\),\n\tn: union number {i: 1078530011, f: 3\.14159274, b: "\\xdb\\x0fI@"},\n\t<anonymous struct>: struct {\.\.\.} {inside: 77},\n\tcall: 0x[0-9a-f]+ <called>,\n\tto: \*struct point {x: 10, y: 20},}\n$`},
				{"frame %waits print first", `^node {\n\tnext: \*struct node {\n\t\tnext: \*\(\*struct node\)\(0x[0-9a-f]+\),\n\t\tnumber: 2,\n\t\tname: "two",},\n\tnumber: 1,\n\tname: "one",}\n$`},
				{"frame %waits whatis first", `^node\nReal type: struct node\n`},
				{"frame %cxx print one", `^ns::holder<int> {\n\t<ns::base>: ns::base {_vptr\.base: .*, in_base: 11},\n\t<ns::other>: ns::other {static count: 4, in_other: 22},\n\theld: 4,}\n$`},
				{"frame %cxx locals", `(?m)^same = ns::base & {_vptr\.base: .*, in_base: 11}$`},
				{"frame %method args", `^this = \(ns::holder<int> \* const\)\(0x[0-9a-f]+\)\nof = const ns::base & {.*in_base: 11}\nmoved = ns::other && {static count: 4, in_other: 22}\nmember = `},
				{"frame %method locals", `(?m)^how = size::big \(2\)$`},
				{"frame %go locals", `^text = "Go's own"\n$`}, // Delve's
				{"stack -full", `C\.c_waits\n(.*\n)+ +n = .*\n +all = struct all {c: 'c' \(99\), u: '\\310' \(200\), s: -300,\.\.\.\+9 more}\n(.*\n)+ +text = "Go's own"\n`},
				{"goroutine %back", ""},
				{"stack -full", `(?s)C\.c_ends\n.* end = "the end"\n.*main\.goBack\n.*inGo = 122\n.*C\.c_calls_back\n.* before = struct point {x: 60, y: 51}\n`},
				{"exit -d", ""}, {"n", ""},
			}
			for i := range steps {
				steps[i].command = number.Replace(steps[i].command)
			}
			runSteps(t, steps, "connect", addr)
		})
	}
}

// At each stop, values are read anew.
func TestDlvValuesOfEachStop(t *testing.T) {
	s := serve(t, debugger.Config{}, false, buildValues(t, "-O0"), "turns")
	steps := []step{{"break main.stops", ""}}
	for turn := 1; turn <= 3; turn++ {
		n := strconv.Itoa(turn)
		steps = append(steps, step{"continue " + strings.Repeat(" ", turn), `main\.stops`},
			step{"stack -full " + strings.Repeat(" ", turn), `C\.c_turns\n(.*\n)+ +at = struct point {x: ` + n + `, y: ` + strconv.Itoa(turn*turn) + `}\n +turn = ` + n + `\n`})
	}
	runSteps(t, append(steps, step{"exit", ""}), "connect", s.addr)
}

// framesIn returns the frames of the goroutine that is in a function.
func (c *dapClient) framesIn(function string) []dap.StackFrame {
	c.t.Helper()
	for _, th := range ask[dap.ThreadsResponse](c, "threads", nil).Body.Threads {
		frames := c.stackTrace(th.Id, 0, 100).StackFrames
		if slices.ContainsFunc(frames, func(f dap.StackFrame) bool { return f.Name == function }) {
			return frames
		}
	}
	c.t.Fatalf("no goroutine is in %s", function)
	return nil
}

func dapFrame(t testing.TB, frames []dap.StackFrame, function string) dap.StackFrame {
	t.Helper()
	i := slices.IndexFunc(frames, func(f dap.StackFrame) bool { return f.Name == function })
	if i < 0 {
		t.Fatalf("no frame of %s: %v", function, functions(framesOf(dap.StackTraceResponseBody{StackFrames: frames})))
	}
	return frames[i]
}

// summarizes reports whether a text is the text of the same variable whole, but for structs and
// arrays within: "{...}".
func summarizes(got, whole gdbtest.FullLocal) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(got.Text), `\{\.\.\.\}`, `\{.*\}`)
	return got.Name == whole.Name && regexp.MustCompile("^"+pattern+"$").MatchString(whole.Text)
}

// An editor shows the same values as gdb, in all frames of C and C++ that gdb sees.
func TestDAPValues(t *testing.T) {
	for _, optimize := range optimized {
		t.Run(optimize, func(t *testing.T) {
			p := gdbtest.StartRunning(t, buildValues(t, optimize))
			s := attach(t, p, false)
			c := connectDAP(t, s.addr)
			got := map[string][]gdbtest.FullLocal{}
			for _, f := range c.framesIn("main.begins") {
				name, ok := strings.CutPrefix(f.Name, "C.")
				if !ok || f.Id < 1<<30 {
					continue
				}
				for _, scope := range ask[dap.ScopesResponse](c, "scopes", dap.ScopesArguments{FrameId: f.Id}).Body.Scopes {
					if scope.Name != "Locals" {
						continue
					}
					for _, v := range ask[dap.VariablesResponse](c, "variables", dap.VariablesArguments{VariablesReference: scope.VariablesReference}).Body.Variables {
						got[name] = append(got[name], gdbtest.FullLocal{Name: strings.Trim(v.Name, "()"), Text: v.Value})
					}
				}
			}
			if err := s.end(); err != nil {
				t.Fatal(err)
			}
			threads, err := gdbtest.ParseFull(gdbtest.Full(t, p.PID, "", gdbtest.WithScripts(), gdbtest.WithSettings("set print frame-arguments all")))
			if err != nil {
				t.Fatal(err)
			}
			compared, all := 0, []string{"c_ends", "ns::holder<int>::waits", "cxx_waits", "c_inner", "c_waits"}
			for _, th := range threads {
				if !slices.ContainsFunc(th.Frames, func(f gdbtest.FullFrame) bool { return f.Function == "c_waits" }) {
					continue
				}
				for _, f := range th.Frames {
					if !slices.Contains(all, f.Function) {
						continue
					}
					var want []gdbtest.FullLocal
					for _, a := range f.Arguments() {
						if _, atEntry := strings.CutSuffix(a.Name, "@entry"); atEntry {
							continue
						}
						a.Text = strings.TrimPrefix(a.Text, a.Name+"@entry=")
						want = append(want, a)
					}
					want = append(want, f.Locals...)
					if !slices.EqualFunc(got[f.Function], want, summarizes) {
						t.Errorf("%s:\n%q\ngdb\n%q", f.Function, got[f.Function], want)
					}
					compared += len(want)
				}
			}
			if compared < 50 {
				t.Errorf("%d values were compared", compared)
			}
		})
	}
}

// An editor expands values, and asks for them by name.
func TestDAPExpands(t *testing.T) {
	p := gdbtest.StartRunning(t, buildValues(t, "-O0"))
	c := connectDAP(t, attach(t, p, false).addr)
	frames := c.framesIn("main.begins")
	inner, waits, method := dapFrame(t, frames, "C.c_inner"), dapFrame(t, frames, "C.c_waits"), dapFrame(t, frames, "C.ns::holder<int>::waits")
	_, locals := c.variables(waits, "Locals")
	expect := func(of dap.Variable, name, value, typ string) dap.Variable {
		t.Helper()
		v, ok := c.children(of.VariablesReference)[name]
		if !ok || v.Value != value || v.Type != typ {
			t.Errorf("%s has %s: %+v, want %s", of.Name, name, v, value)
		}
		return v
	}
	all := locals["all"]
	if all.Type != "struct all" || all.NamedVariables != 12 {
		t.Errorf("%+v", all)
	}
	expect(all, "bits", "5", "unsigned int")
	expect(all, "c", "99 'c'", "char")
	expect(expect(all, "p", "{x = 10, y = 20}", "struct point"), "y", "20", "int")
	expect(expect(all, "list", "{7, 7, 7, 7}", "int [4]"), "[3]", "7", "int")
	expect(expect(all, "<anonymous struct>", "{inside = 77}", "struct {...}"), "inside", "77", "int")
	to := c.children(all.VariablesReference)["to"] // a pointer has the members of its struct
	expect(to, "x", "10", "int")
	inside := c.children(c.children(all.VariablesReference)["<anonymous struct>"].VariablesReference)["inside"]
	for want, v := range map[string]dap.Variable{
		"all": all, "all.to": to, "all.to->y": c.children(to.VariablesReference)["y"], "all.list[2]": c.children(c.children(all.VariablesReference)["list"].VariablesReference)["[2]"],
		"all.inside": inside, "*to_many": c.children(locals["to_many"].VariablesReference)["*to_many"],
	} {
		if got := c.evaluate(waits, v.EvaluateName); v.EvaluateName != want || got.Result != v.Value {
			t.Errorf("%+v is named %s, which is %+v", v, v.EvaluateName, got)
		}
	}
	at := locals["first"]
	for _, name := range []string{"two", "three", "one", "two"} { // a ring
		at = c.children(at.VariablesReference)["next"]
		if got := c.children(at.VariablesReference)["name"].Value; !strings.HasSuffix(got, strconv.Quote(name)) {
			t.Errorf("%s, want %s", got, name)
		}
	}
	if v := c.children(locals["to_many"].VariablesReference)["*to_many"]; v.Value != "0" {
		t.Errorf("%+v", v)
	}

	_, locals = c.variables(inner, "Locals")
	for name, want := range map[string]string{"depth": "3", "shadowed": "43", "(shadowed)": "1", "no_text": "0x0", "set": "(FIRST | THIRD)", "by_value": "{x = 30, y = 40}"} {
		if got := locals[name].Value; got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"null", "nothing", "depth", "text"} {
		if v := locals[name]; v.VariablesReference != 0 {
			t.Errorf("%+v", v)
		}
	}
	matrix := locals["matrix"]
	if matrix.IndexedVariables != 2 {
		t.Errorf("%+v", matrix)
	}
	expect(expect(matrix, "[1]", "{4, 5, 6}", "int [3]"), "[2]", "6", "int")
	page := ask[dap.VariablesResponse](c, "variables", dap.VariablesArguments{VariablesReference: locals["sized"].VariablesReference, Filter: "indexed", Start: 3, Count: 2}).Body.Variables
	if len(page) != 2 || page[0].Name != "[3]" || page[0].Value != "9" || page[1].Value != "16" {
		t.Errorf("%+v", page)
	}
	if named := ask[dap.VariablesResponse](c, "variables", dap.VariablesArguments{VariablesReference: matrix.VariablesReference, Filter: "named"}).Body.Variables; len(named) != 0 {
		t.Errorf("%+v", named)
	}
	expect(locals["bad"], "*bad", "<error: Cannot access memory at address 0x8>", "struct point")

	_, locals = c.variables(method, "Locals")
	expect(locals["this"], "held", "4", "int")
	expect(expect(locals["this"], "<ns::base>", c.children(locals["this"].VariablesReference)["<ns::base>"].Value, "ns::base"), "in_base", "11", "int")
	expect(locals["of"], "in_base", "11", "int")
	expect(locals["numbers"], "[2]", "6", "int")
	expect(expect(locals["named"], `["second"]`, "{static count = 4, in_other = 22}", "ns::other"), "in_other", "22", "long")
	for _, p := range c.children(locals["owner"].VariablesReference) {
		expect(p, "in_other", "22", "long")
	}
	if v := locals["text"]; v.Value != `"standard"` || v.VariablesReference != 0 {
		t.Errorf("%+v", v)
	}
	expect(locals["moved"], "static count", "4", "int")

	for expression, want := range map[string]string{"by_value": "{x = 30, y = 40}", "color": "GREEN", " half ": "2.5", "points[2].y - 1": "5", "(*to_pointer)->x": "10"} {
		if got := c.evaluate(inner, expression); got.Result != want {
			t.Errorf("%s is %+v, want %s", expression, got, want)
		}
	}
	if got := c.evaluate(inner, "*bad").Result; got != "<error: Cannot access memory at address 0x8>" {
		t.Error(got)
	}
	value := c.evaluate(inner, "by_value")
	expect(dap.Variable{Name: "by_value", VariablesReference: value.VariablesReference}, "y", "40", "int")
	if got := refused(c, "evaluate", dap.EvaluateArguments{Expression: "nothing_here", FrameId: inner.Id}); !strings.Contains(got, `C.c_inner: "nothing_here": No symbol`) {
		t.Error(got)
	}

	// Variables of C are set, and parts of them: the answer is what they are now.
	innerRef, now := c.variables(inner, "Locals")
	for _, tt := range []struct {
		of                    int
		name, value, is, path string
	}{
		{innerRef, "depth", "depth + 4", "7", "depth"}, {innerRef, "color", "BLUE", "BLUE", "color"},
		{now["by_value"].VariablesReference, "y", "-4", "-4", "by_value.y"},
		{c.children(now["matrix"].VariablesReference)["[1]"].VariablesReference, "[2]", "60", "60", "matrix[1][2]"},
	} {
		got := ask[dap.SetVariableResponse](c, "setVariable", dap.SetVariableArguments{VariablesReference: tt.of, Name: tt.name, Value: tt.value}).Body
		if again := c.evaluate(inner, tt.path); got.Value != tt.is || again.Result != tt.is {
			t.Errorf("%s is set to %s: %+v, and then is %+v", tt.path, tt.value, got, again)
		}
	}
	if got := refused(c, "setVariable", dap.SetVariableArguments{VariablesReference: now["by_value"].VariablesReference, Name: "z", Value: "1"}); !strings.Contains(got, "by_value has no part z") {
		t.Error(got)
	}

	// A Go variable is set: what was expanded before can still be.
	begins := dapFrame(t, frames, "main.begins")
	ref, _ := c.variables(begins, "Locals")
	ask[dap.SetVariableResponse](c, "setVariable", dap.SetVariableArguments{VariablesReference: ref, Name: "n", Value: "77"})
	expect(at, "number", "2", "long")
	expect(dap.Variable{Name: "by_value", VariablesReference: value.VariablesReference}, "x", "30", "int")
	for range 20 { // Delve answers before the process runs
		ask[dap.ContinueResponse](c, "continue", dap.ContinueArguments{ThreadId: 1})
		c.events = nil
		ask[dap.PauseResponse](c, "pause", dap.PauseArguments{ThreadId: 1})
		c.event("stopped")
	}
	if got := refused(c, "variables", dap.VariablesArguments{VariablesReference: at.VariablesReference}); !strings.Contains(got, "before the process has run") {
		t.Error(got)
	}
}
