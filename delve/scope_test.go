//go:build linux && (amd64 || arm64)

package delve_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/service/api"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// variables are values of expressions in frames of testdata/progs/delvecgo, by the name of their
// stack in mixed. The source tells the values.
var variables = []struct{ stack, function, expression, value string }{
	{"C", "main.blocksInC", "p", `main.point {X: 101, Y: 102, Name: "blocks"}`},
	{"C", "main.blocksInC", "n", "101"},
	{"C", "main.blocksOuter", "local", "[3]int [100,200,300]"},
	{"C", "main.blocksOuter", "n+local[2]", "400"},
	{"main", "main.blocksOuter", "local[0]", "500"},
	{"callback", "main.blocksInC", "n", "203"},
	{"callback", "main.callbackInner", "list", "[]int len: 2, cap: 2, [203,204]"},
	{"callback", "main.callbackInner", "n", "203"},
	{"callback", "main.callsC", "text", `"calls C"`},
	{"callback", "main.callsC", "n", "201"},
	{"callback", "main.callsOuter", "p.Name", `"outer"`},
	{"callback", "main.callsOuter", "n", "200"},
	{"parked", "main.parks", "name", `"parked"`},
	{"parked", "main.callsOuter", "p.Y", "1001"},
	{"parked", "main.parksOuter", "n", "1000"},
	{"signal", "main.signalled", "p.Name", `"signalled"`},
	{"signal", "main.signalOuter", "n", "300"},
	{"recursion", "main.recurse", "n", "0"}, // in the innermost frame of main.recurse
	{"thread", "main.threadInner", "from", `"a thread of C's"`},
	{"thread", "main.goFromThread", "n", "402"},
	{"parked thread", "main.threadInner", "n", "1002"},
}

// Locals of Go's frames can be evaluated in every frame. C's frames say that they have none.
func TestScope(t *testing.T) {
	exe := delvetest.Cgo(t, "-gcflags=all=-N -l")
	p := gdbtest.StartRunning(t, exe, "main")
	pt := delvetest.Attach(t, p.PID).Selected
	tg := open(t, pt)
	checkVariables(t, pt)
	t.Run("core", func(t *testing.T) {
		core := dump(t, pt, filepath.Join(t.TempDir(), "core"), 0)
		checkVariables(t, delvetest.Open(t, core, exe).Selected)
	})

	// A variable keeps the value that it is set to.
	g, _ := find(t, pt, "main.callsOuter", "main.parksOuter")
	for _, value := range []string{"7", "200"} {
		frames, err := delve.Frames(tg, delve.Goroutine(g.ID), delve.Options{Depth: 100})
		if err != nil {
			t.Fatal(err)
		}
		scope, err := named(frames, "main.callsOuter").Scope()
		if err == nil {
			err = scope.SetVariable("n", value)
		}
		if err != nil {
			t.Fatal(err)
		}
		if frames, err = delve.Frames(tg, delve.Goroutine(g.ID), delve.Options{Depth: 100}); err != nil {
			t.Fatal(err)
		}
		if got := evaluate(named(frames, "main.callsOuter"), "n"); got != value {
			t.Errorf("n was set to %s, and is %s", value, got)
		}
	}
}

func checkVariables(t *testing.T, pt *proc.Target) {
	tg := open(t, pt)
	load := proc.LoadFullValue()
	for _, m := range mixed {
		g, _ := find(t, pt, m.contains, m.without)
		frames, err := delve.Frames(tg, delve.Goroutine(g.ID), delve.Options{Depth: 100, Load: &load})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range variables {
			if v.stack != m.name {
				continue
			}
			f := named(frames, v.function)
			if f == nil {
				t.Errorf("%s: no frame of %s", m.name, v.function)
				continue
			}
			if got := evaluate(f, v.expression); got != v.value {
				t.Errorf("%s: %s: %s is %s, want %s", m.name, v.function, v.expression, got, v.value)
			}
			if loaded := f.Var(v.expression); loaded != nil && loaded.SinglelineString() != v.value {
				t.Errorf("%s: %s: %s is loaded as %s, want %s", m.name, v.function, v.expression, loaded.SinglelineString(), v.value)
			}
		}
		for i := range frames {
			f := &frames[i]
			name := f.Function.Name()
			_, err := f.Scope()
			if inC := strings.HasPrefix(name, "C.c_") || strings.HasPrefix(name, "C.handler") || strings.HasPrefix(name, "C.thread"); inC && !errors.Is(err, delve.ErrNoVariables) {
				t.Errorf("%s: scope of %s: %v", m.name, name, err)
			} else if inC && (!strings.Contains(err.Error(), name) || f.Locals != nil) {
				t.Errorf("%s: scope of %s: %v; locals %v", m.name, name, err, f.Locals)
			}
			if strings.HasPrefix(name, "main.") && err != nil {
				t.Errorf("%s: scope of %s: %v", m.name, name, err)
			}
		}
	}
}

func named(frames []delve.Frame, function string) *delve.Frame {
	for i := range frames {
		if frames[i].Function.Name() == function {
			return &frames[i]
		}
	}
	return nil
}

func evaluate(f *delve.Frame, expression string) string {
	scope, err := f.Scope()
	if err != nil {
		return err.Error()
	}
	v, err := scope.EvalExpression(expression, proc.LoadFullValue())
	if err != nil {
		return err.Error()
	}
	return api.ConvertVar(v).SinglelineString()
}

// Where Delve has the frame, its scope is Delve's own, with the same variables.
func TestOwnScopes(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	pt := delvetest.Attach(t, p.PID).Selected
	tg, err := delve.NewTarget(pt)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	list, _, err := proc.GoroutinesInfo(pt, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	load := proc.LoadFullValue()
	compared, deferred := 0, 0
	seen := make(map[string]int)
	for _, g := range list {
		const depth = 12
		own, err := proc.GoroutineStacktrace(pt, g, depth, proc.StacktraceReadDefers)
		if err != nil {
			t.Errorf("goroutine %d: Delve: %v", g.ID, err)
			continue
		}
		key := delves(own)
		if seen[key]++; seen[key] > 3 {
			continue // three of a kind are enough
		}
		frames, err := delve.Frames(tg, delve.Goroutine(g.ID), delve.Options{Depth: depth, Load: &load, Defers: true})
		if err != nil {
			t.Errorf("goroutine %d: %v", g.ID, err)
			continue
		}
		for k := range frames {
			f := &frames[k]
			if k >= len(own) {
				t.Errorf("goroutine %d: %d frames, Delve has %d", g.ID, len(frames), len(own))
				break
			}
			want := variablesOf(t, pt, own[k:], load)
			if got := fmt.Sprint(f.Arguments, f.Locals); got != want {
				t.Errorf("goroutine %d, frame %d %s:\n%s\nDelve:\n%s", g.ID, k, f.Function.Name(), got, want)
			}
			compared++
			if len(f.Defers) != len(own[k].Defers) {
				t.Errorf("goroutine %d, frame %d %s: %d deferred calls, Delve has %d", g.ID, k, f.Function.Name(), len(f.Defers), len(own[k].Defers))
				continue
			}
			for j, d := range own[k].Defers {
				_, _, fn := d.DeferredFunc(pt)
				if got := f.Defers[j]; got.SP != d.SP || got.DeferLoc.PC != d.DeferPC || got.DeferredLoc.Function.Name() != fn.Name {
					t.Errorf("goroutine %d, frame %d %s: deferred call %+v, Delve has %+v of %s", g.ID, k, f.Function.Name(), got, d, fn.Name)
				}
				deferred++
			}
		}
	}
	if compared < 500 || deferred < 10 {
		t.Errorf("%d frames, %d deferred calls", compared, deferred)
	}
}

// Where Delve is led to a frame, it finds the same as by itself.
func TestLead(t *testing.T) {
	p := gdbtest.StartRunning(t, delvetest.Go(t, "amd64"), "quiet")
	checkLead(t, delvetest.Attach(t, p.PID).Selected)
}

func checkLead(t *testing.T, pt *proc.Target) {
	t.Helper()
	tg := open(t, pt)
	list, _, err := proc.GoroutinesInfo(pt, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, g := range list {
		frames, err := delve.Frames(tg, delve.Goroutine(g.ID), delve.Options{Depth: 60})
		if err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			f := &frames[i]
			if f.Err != "" || f.Inlined || len(f.DelveFrames) == 0 || f.Physical.Type() == frame.OtherStack {
				continue // or the frame is between two stacks
			}
			n := 0 // calls that are inlined in this frame
			for ; i-n > 0 && frames[i-n-1].Inlined && frames[i-n-1].Physical == f.Physical; n++ {
			}
			led, called := delve.Lead(f)
			if !called {
				continue // for Delve, lead makes every frame look as if a call had left it
			}
			for k := range n + 1 {
				want, got := frames[i-n+k].DelveFrames[0], proc.Stackframe{}
				if k < len(led) {
					got = led[k]
				}
				if got.Call != want.Call && (got.Call.Fn == nil || got.Call.Fn.Name != want.Call.Fn.Name || got.Call.Line != want.Call.Line || got.Call.PC != want.Call.PC) ||
					got.Regs.CFA != want.Regs.CFA || got.FrameOffset() != want.FrameOffset() || got.Inlined != want.Inlined {
					t.Errorf("goroutine %d, frame %d: Delve is led to %+v at %#x, want %+v at %#x", g.ID, i, got.Call, got.Regs.CFA, want.Call, want.Regs.CFA)
				}
				compared++
			}
		}
	}
	if compared < 5000 {
		t.Errorf("%d frames were compared", compared)
	}
}

func variablesOf(t *testing.T, pt *proc.Target, frames []proc.Stackframe, load proc.LoadConfig) string {
	t.Helper()
	scope := proc.FrameToScope(pt, pt.Memory(), nil, 0, frames...)
	locals, err := scope.LocalVariables(load)
	if err != nil {
		t.Fatal(err)
	}
	arguments, err := scope.FunctionArguments(load)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(api.ConvertVars(arguments), api.ConvertVars(locals))
}
