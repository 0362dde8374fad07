package python_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/python"
)

// TestBegins looks at a thread at each of the first instructions of calls of the evaluator: the
// frames of the caller are there all the time.
func TestBegins(t *testing.T) {
	const steps = 60
	begins := 5
	if os.Getenv("SFWALK_SOAK") == "1" {
		begins = 100
	}
	program := absolute(t, "begins.py")
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p, runtimes := held(t, interpreter, program)
			frames := func() []string {
				d := &decorated{languagetest.Decorate(t, p, p.Inferiors()[0], runtimes, nil)}
				if d.Said == nil || len(d.Said.Warnings) > 0 {
					t.Errorf("%+v", d.Said)
				}
				return d.frames()
			}
			run := func(r inferior.Resume, want inferior.EventKind) {
				if err := p.Resume(r); err != nil {
					t.Fatal(err)
				}
				if e, err := p.Wait(context.Background()); err != nil || e.Kind != want {
					t.Fatalf("event %+v, %v", e, err)
				}
			}
			entry := entryOf(t, p, "_PyEval_EvalFrameDefault")
			for range begins {
				if err := p.SetBreakpoint(entry); err != nil {
					t.Fatal(err)
				}
				run(inferior.Resume{}, inferior.Breakpoint)
				if err := p.ClearBreakpoint(entry); err != nil {
					t.Fatal(err)
				}
				outer := frames()
				for n := range steps {
					run(inferior.Resume{Thread: p.Inferiors()[0], Step: true}, inferior.Stepped)
					got := frames()
					if !slices.Equal(got[max(0, len(got)-len(outer)):], outer) {
						t.Fatalf("after %d instructions:\n%s\n\nbefore:\n%s", n+1, strings.Join(got, "\n"), strings.Join(outer, "\n"))
					}
				}
			}
		})
	}
}

// callers says who calls the functions of calls.py.
var callers = map[string]string{
	"leaf": "comp <listcomp> kw star __init__ p __getitem__ __getattr__ __add__ gen inner <lambda> thrower catches", "<listcomp>": "comp",
	"gen": "work dele", "inner": "outer", "thrower": "catches", "work": "<module>", "<module>": "",
}

// TestCalls looks at a thread at each instruction of calls within one call of the evaluator, and of
// generators that give a value: each function is called by one that calls it. On some builds, the
// frames themselves say something else for one of a thousand instructions.
func TestCalls(t *testing.T) {
	steps := 2000
	if os.Getenv("SFWALK_SOAK") == "1" {
		steps = 30_000
	}
	program := absolute(t, "calls.py")
	for _, interpreter := range pythons(t) {
		t.Run(strings.TrimPrefix(interpreter, "/"), func(t *testing.T) {
			p, runtimes := held(t, interpreter, program)
			for n := range steps {
				if err := p.Resume(inferior.Resume{Thread: p.Inferiors()[0], Step: true}); err != nil {
					t.Fatal(err)
				}
				if e, err := p.Wait(context.Background()); err != nil || e.Kind != inferior.Stepped {
					t.Fatalf("event %+v, %v", e, err)
				}
				d := &decorated{languagetest.Decorate(t, p, p.Inferiors()[0], runtimes, nil)}
				frames := append(d.frames(), "")
				wrong := len(frames) == 1 || len(d.Said.Warnings) > 0
				for i, f := range frames[:len(frames)-1] {
					_, name, _ := strings.Cut(f, " in ")
					_, caller, _ := strings.Cut(frames[i+1], " in ")
					by, known := callers[name]
					if !known {
						by = "work"
					}
					wrong = wrong || caller == "" != (by == "") || caller != "" && !slices.Contains(strings.Fields(by), caller)
				}
				if wrong {
					t.Fatalf("after %d instructions, at %#x:\n%s\n%q", n+1, d.Stack.Frames[0].PC(), strings.Join(frames, "\n"), d.Said.Warnings)
				}
			}
		})
	}
}

// held starts a program of Python, and holds it.
func held(t *testing.T, interpreter, program string) (p inferior.Process, runtimes []language.Named) {
	t.Helper()
	p, err := native.Attach(context.Background(), gdbtest.StartRunning(t, interpreter, program).PID, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p, languagetest.Find(t, p, python.Decorator{})
}

// entryOf returns the address of a function of a process.
func entryOf(t *testing.T, p inferior.Process, name string) uint64 {
	t.Helper()
	for _, m := range p.Modules().All() {
		im, bias, err := m.PeekImage()
		if err != nil {
			continue
		}
		for _, s := range im.Lookup(name, 1) {
			return s.Addr + bias
		}
	}
	t.Fatalf("no module has the function %s", name)
	return 0
}
