//go:build linux && (amd64 || arm64)

package server_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-dap"

	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// stackTrace asks for frames of a goroutine.
func (c *dapClient) stackTrace(thread, start, levels int) dap.StackTraceResponseBody {
	c.t.Helper()
	return ask[dap.StackTraceResponse](c, "stackTrace", dap.StackTraceArguments{ThreadId: thread, StartFrame: start, Levels: levels}).Body
}

func framesOf(body dap.StackTraceResponseBody) (list []frame) {
	for _, f := range body.StackFrames {
		list = append(list, frame{function: f.Name, pc: strings.TrimPrefix(f.InstructionPointerReference, "0x")})
	}
	return list
}

// whose finds the goroutine whose stack, as an editor shows it, is the given chain.
func (c *dapClient) whose(chain string) (thread int, frames []dap.StackFrame) {
	c.t.Helper()
	for _, th := range ask[dap.ThreadsResponse](c, "threads", nil).Body.Threads {
		if body := c.stackTrace(th.Id, 0, 100); names(c.t, framesOf(body)) == chains[chain] {
			return th.Id, body.StackFrames
		}
	}
	c.t.Fatalf("no goroutine is %s", chain)
	return 0, nil
}

// checkChains checks that an editor sees the stacks that the program comes to rest in.
func (c *dapClient) checkChains() {
	c.t.Helper()
	var stacks []string
	for _, th := range ask[dap.ThreadsResponse](c, "threads", nil).Body.Threads {
		body := c.stackTrace(th.Id, 0, 100)
		stacks = append(stacks, names(c.t, framesOf(body)))
		if body.TotalFrames != len(body.StackFrames) {
			c.t.Errorf("%d frames of %d", len(body.StackFrames), body.TotalFrames)
		}
	}
	checkChains(c.t, stacks)
}

// An editor sees the same stacks.
func TestDAPStacks(t *testing.T) {
	c := connectDAP(t, attach(t, startCgo(t), false).addr)
	c.checkChains()

	// The parts of a stack make the whole.
	thread, whole := c.whose("recursion")
	var parts []dap.StackFrame
	for len(parts) < len(whole) {
		body := c.stackTrace(thread, len(parts), 9)
		if len(body.StackFrames) == 0 || body.TotalFrames < min(len(whole), len(parts)+len(body.StackFrames)) {
			t.Fatalf("%d frames of %d from %d", len(body.StackFrames), body.TotalFrames, len(parts))
		}
		parts = append(parts, body.StackFrames...)
	}
	for i, f := range whole {
		if g := parts[i]; g.Name != f.Name || g.InstructionPointerReference != f.InstructionPointerReference || g.Line != f.Line {
			t.Errorf("%+v in parts, %+v", g, f)
		}
	}
	if body := c.stackTrace(thread, 1000, 10); len(body.StackFrames) != 0 {
		t.Errorf("behind the stack: %v", body.StackFrames)
	}
	if got := refused(c, "stackTrace", dap.StackTraceArguments{ThreadId: 123456}); !strings.Contains(got, "unknown goroutine 123456") {
		t.Error(got)
	}
}

// variables lists the contents of a scope of a frame, by name.
func (c *dapClient) variables(frame dap.StackFrame, scope string) (ref int, list map[string]dap.Variable) {
	c.t.Helper()
	for _, s := range ask[dap.ScopesResponse](c, "scopes", dap.ScopesArguments{FrameId: frame.Id}).Body.Scopes {
		if s.Name == scope {
			return s.VariablesReference, c.children(s.VariablesReference)
		}
	}
	c.t.Fatalf("%s has no scope %s", frame.Name, scope)
	return 0, nil
}

func (c *dapClient) children(ref int) map[string]dap.Variable {
	c.t.Helper()
	list := map[string]dap.Variable{}
	for _, v := range ask[dap.VariablesResponse](c, "variables", dap.VariablesArguments{VariablesReference: ref}).Body.Variables {
		list[v.Name] = v
	}
	return list
}

func (c *dapClient) evaluate(frame dap.StackFrame, expr string) dap.EvaluateResponseBody {
	c.t.Helper()
	return ask[dap.EvaluateResponse](c, "evaluate", dap.EvaluateArguments{Expression: expr, FrameId: frame.Id, Context: "watch"}).Body
}

// An editor reaches the variables and registers of frames, whether Delve has the frame itself or
// lacks it.
func TestDAPFrames(t *testing.T) {
	c := connectDAP(t, attach(t, startCgo(t), false).addr)
	_, frames := c.whose("callback")
	at := func(function string) dap.StackFrame {
		t.Helper()
		i := slices.IndexFunc(frames, func(f dap.StackFrame) bool { return f.Name == function })
		if i < 0 {
			t.Fatalf("no frame of %s", function)
		}
		return frames[i]
	}
	inner, outer, inC := at("main.blocksInC"), at("main.callsOuter"), at("C.c_calls_go_inner")
	const own = 1 << 30
	if inner.Id >= own || inC.Id < own {
		t.Errorf("frame %d is Delve's own, %d is not", inner.Id, inC.Id)
	}
	const source = "/elsewhere/delvecgo/main.go" // the editor's copy
	if outer.Source == nil || outer.Source.Path != source || inner.Source.Path != source || outer.Line == 0 || at("runtime.cgocall").PresentationHint != "subtle" {
		t.Errorf("%+v", outer)
	}
	for _, f := range []struct {
		frame           dap.StackFrame
		n, expr, result string
	}{{inner, "203", "p.Name", `"blocks"`}, {outer, "200", "p.X", "200"}} {
		_, list := c.variables(f.frame, "Locals")
		p := list["p"]
		if v := list["n"]; v.Value != f.n || v.Type != "int" {
			t.Errorf("%s: n is %+v", f.frame.Name, v)
		}
		if p.VariablesReference == 0 || !strings.Contains(p.Value, "main.point {X: ") {
			t.Errorf("%s: p is %+v", f.frame.Name, p)
		}
		if got := c.evaluate(f.frame, f.expr); got.Result != f.result {
			t.Errorf("%s: %s is %+v", f.frame.Name, f.expr, got)
		}
		if got := c.evaluate(f.frame, "n + 1"); !strings.HasPrefix(got.Result, f.n[:2]) || got.VariablesReference != 0 {
			t.Errorf("%s: n + 1 is %+v", f.frame.Name, got)
		}
		if got := refused(c, "evaluate", dap.EvaluateArguments{Expression: "nothing", FrameId: f.frame.Id}); !strings.Contains(got, "could not find symbol value for nothing") {
			t.Errorf("%s: %s", f.frame.Name, got)
		}
		_, regs := c.variables(f.frame, "Registers")
		if got := strings.ToLower(regs["   rip"].Value); strings.TrimLeft(got, "0x") != strings.TrimLeft(f.frame.InstructionPointerReference, "0x") {
			t.Errorf("%s: Rip %s, at %s", f.frame.Name, got, f.frame.InstructionPointerReference)
		}
	}

	// A frame that Delve lacks has variables, which can be expanded and set.
	ref, list := c.variables(outer, "Locals")
	point := c.children(list["p"].VariablesReference)
	if len(point) == 1 { // a pointer's only child is its target
		for _, v := range point {
			point = c.children(v.VariablesReference)
		}
	}
	if point["Y"].Value != "201" || !strings.Contains(point["Name"].Value, `"outer"`) {
		t.Errorf("%v", point)
	}
	ask[dap.SetVariableResponse](c, "setVariable", dap.SetVariableArguments{VariablesReference: ref, Name: "n", Value: "77"})
	if got := c.evaluate(outer, "n").Result; got != "77" {
		t.Errorf("n is %s", got)
	}
	if got := refused(c, "setVariable", dap.SetVariableArguments{VariablesReference: ref, Name: "nothing", Value: "1"}); !strings.Contains(got, "nothing") {
		t.Error(got)
	}
	if got := refused(c, "dataBreakpointInfo", map[string]any{"frameId": outer.Id, "name": "n"}); !strings.Contains(got, "it is not in Delve's own stack") {
		t.Error(got)
	}

	for _, f := range []dap.StackFrame{inner, outer, inC} {
		if got := refused(c, "evaluate", dap.EvaluateArguments{Expression: "call main.parks(1)", FrameId: f.Id}); !strings.Contains(got, "call is only supported with topmost stack frame") {
			t.Errorf("%s: %s", f.Name, got)
		}
		if got := c.evaluate(f, "dlv config -list stackTraceDepth").Result; !strings.Contains(got, "50") {
			t.Errorf("%s: %s", f.Name, got)
		}
	}

	// A frame of C has registers, and says that it has no variables.
	_, regs := c.variables(inC, "Registers")
	if regs["   rsp"].Value == "" || regs["   rax"].Value != "" {
		t.Errorf("%v", regs)
	}
	if _, list := c.variables(inC, "Locals: C.c_calls_go_inner: code without debug information: no variables"); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if got := c.evaluate(inC, "main.never").Result; !strings.HasPrefix(got, "chan int") {
		t.Error(got)
	}
	if got := refused(c, "evaluate", dap.EvaluateArguments{Expression: "n", FrameId: inC.Id}); !strings.Contains(got, "no variables") {
		t.Error(got)
	}
	for _, id := range []int{1, own - 1, own + 1<<20, 1<<31 - 1} {
		if got := refused(c, "scopes", dap.ScopesArguments{FrameId: id}); !regexp.MustCompile("unknown frame id|before the process has run").MatchString(got) {
			t.Errorf("frame %d: %s", id, got)
		}
	}
}

// When an editor has let the process run on and stop, the numbers of the last stop are void.
func TestDAPRuns(t *testing.T) {
	p := startCgo(t)
	c := connectDAP(t, attach(t, p, true).addr)
	_, frames := c.whose("in C")
	i := slices.IndexFunc(frames, func(f dap.StackFrame) bool { return f.Name == "C.c_blocks" })
	scopes := dap.ScopesArguments{FrameId: frames[i].Id}
	ask[dap.ScopesResponse](c, "scopes", scopes)
	ask[dap.ContinueResponse](c, "continue", dap.ContinueArguments{ThreadId: 1})
	for _, command := range []string{"stackTrace", "scopes"} {
		arguments := any(scopes)
		if command == "stackTrace" {
			arguments = dap.StackTraceArguments{ThreadId: 1}
		}
		if got := refused(c, command, arguments); !strings.Contains(got, "running") {
			t.Errorf("%s: %s", command, got)
		}
	}
	c.events = nil
	ask[dap.PauseResponse](c, "pause", dap.PauseArguments{ThreadId: 1})
	c.event("stopped")
	if got := refused(c, "scopes", scopes); !strings.Contains(got, "it is of before the process has run") {
		t.Error(got)
	}
	c.whose("in C")

	// The editor goes, and another comes; so does dlv.
	ask[dap.DisconnectResponse](c, "disconnect", dap.DisconnectArguments{})
	c = connectDAP(t, c.conn.RemoteAddr().String())
	c.whose("signal")
	if said := dlv(t, []string{"goroutines -t 100", "exit -d", "n"}, "connect", c.conn.RemoteAddr().String()); !slices.Contains(chainsOf(t, said[0]), chains["thread"]) {
		t.Error("dlv beside the editor does not show the stacks")
	}
	ask[dap.ContinueResponse](c, "continue", dap.ContinueArguments{ThreadId: 1})
	c.conn.Close() // in the middle
}

// The only client ends the debugging: the process runs on, without breakpoints.
func TestDAPEnds(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	s := attach(t, p, false)
	c := connectDAP(t, s.addr)
	ask[dap.SetFunctionBreakpointsResponse](c, "setFunctionBreakpoints", dap.SetFunctionBreakpointsArguments{Breakpoints: []dap.FunctionBreakpoint{{Name: "runtime.gopark"}}})
	ask[dap.ContinueResponse](c, "continue", dap.ContinueArguments{ThreadId: 1})
	ask[dap.DisconnectResponse](c, "disconnect", dap.DisconnectArguments{})
	c.event("terminated")
	if err := s.end(); err != nil {
		t.Error(err)
	}
	checkRuns(t, p)
}

// Where there are no goroutines, threads of C have the stacks that gdb shows.
func TestDAPThreads(t *testing.T) {
	path := gdbtest.Build(t, "threads.c", "-g")
	p := gdbtest.Start(t, path)
	threads := gdbtest.Backtrace(t, p.PID)
	c := connectDAP(t, attach(t, p, false).addr)
	c.event("stopped")
	if list := ask[dap.ThreadsResponse](c, "threads", nil).Body.Threads; len(list) != len(threads) || len(list) < 2 {
		t.Errorf("%v, gdb has %d", list, len(threads))
	}
	program := gdbtest.Functions(t, path, "")
	for _, th := range threads {
		var want, got []string
		for _, f := range th.Frames {
			if slices.Contains(program, f.Function) { // the C library has inlined calls only if its debug information is installed
				want = append(want, f.Function)
			}
		}
		for _, f := range c.stackTrace(-th.TID, 0, 50).StackFrames {
			if name := strings.TrimPrefix(f.Name, "C."); slices.Contains(program, name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) || len(want) < 2 {
			t.Fatalf("thread %d: %q, gdb has %q", th.TID, got, want)
		}
	}
	_, regs := c.variables(c.stackTrace(-p.PID, 1, 1).StackFrames[0], "Registers")
	if regs["   rsp"].Value == "" {
		t.Errorf("%v", regs)
	}
	if got := refused(c, "stackTrace", dap.StackTraceArguments{ThreadId: -123456789}); !strings.Contains(got, "123456789") {
		t.Error(got)
	}
}

// A Go program without DWARF has goroutines, whose stacks end where Go's do.
func TestDAPStripped(t *testing.T) {
	c := connectDAP(t, attach(t, gdbtest.StartRunning(t, delvetest.Go(t, "amd64", "-ldflags=-s -w"), "quiet"), false).addr)
	source, err := os.ReadFile("../../testdata/progs/delvego/main.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), "return <-never + n")
	line := 1 + strings.Count(before, "\n")
	list := ask[dap.ThreadsResponse](c, "threads", nil).Body.Threads
	parked := 0
	for i, th := range list {
		if i%10 > 0 && i > 30 && i < len(list)-10 {
			continue
		}
		frames := c.stackTrace(th.Id, 0, 200).StackFrames
		if len(frames) == 200 && strings.Contains(th.Name, " main.wait") {
			continue // deep recursion
		}
		if strings.HasSuffix(th.Name, " main.wait") && slices.ContainsFunc(frames, func(f dap.StackFrame) bool {
			return f.Name == "main.wait" && f.Source.Name == "main.go" && f.Line == line
		}) {
			parked++
		}
		if len(frames) < 2 || !slices.Contains([]string{"runtime.mcall", "runtime.goexit", "runtime.rt0_go", "runtime.mstart", "runtime.systemstack"}, frames[len(frames)-1].Name) {
			t.Errorf("%s: %v", th.Name, functions(framesOf(dap.StackTraceResponseBody{StackFrames: frames})))
		}
	}
	if len(list) < 900 || parked < 30 {
		t.Errorf("%d goroutines, of which %d are parked in main.wait", len(list), parked)
	}
}
