//go:build linux

package plugintest

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// toy is a decorator for the processes of internal/plugincheck/cores: it takes their machine code
// for an interpreter of "toy". It replaces each frame there by two of the language, and hides the
// frames of the program's own function, down.
type toy struct {
	find  error // of Find; nil for none
	spoil func(*plugin.Stack, *plugin.Decoration) error
	tasks func(*plugin.Stack) ([]plugin.Task, error) // nil if it announces none
}

// Describe implements [plugin.Decorator].
func (d toy) Describe() plugin.Description {
	return plugin.Description{
		Name: "toy-frames", Version: "1.0",
		Decorates: &plugin.Decorates{Language: "toy", Modules: []string{"jit-*"}, Registers: []trad.Reg{3, 6}, Tasks: d.tasks != nil},
	}
}

// Find implements [plugin.Decorator].
func (d toy) Find(t *plugin.Target) (plugin.Runtime, error) {
	if d.find != nil {
		return nil, d.find
	}
	down, err := t.Lookup("down", "jit-*")
	if err != nil || len(down) == 0 {
		return nil, errors.Join(err, plugin.ErrNoRuntime)
	}
	decorates := plugin.RuntimeFunc(func(s *plugin.Stack) (*plugin.Decoration, error) {
		to := decorateToy(s, down[0].Range)
		if to == nil || d.spoil == nil {
			return to, nil
		}
		return to, d.spoil(s, to)
	})
	if d.tasks == nil {
		return decorates, nil
	}
	return toyTasks{decorates, down[0].Lo, d.tasks}, nil
}

// toyTasks is a run time of toy that has tasks.
type toyTasks struct {
	plugin.Runtime
	code uint64 // that a process must have for it to have tasks
	list func(*plugin.Stack) ([]plugin.Task, error)
}

// Tasks implements [plugin.Tasker]. It reads the process, as real ones do.
func (t toyTasks) Tasks(s *plugin.Stack) ([]plugin.Task, error) {
	if _, err := s.Word(t.code); err != nil {
		return nil, err
	}
	return t.list(s)
}

// toyTask returns a task of toy with frames.
func toyTask(id uint64, name string, frames int) plugin.Task {
	t := plugin.Task{ID: id, Number: id, Name: name, Kind: "toy task", State: "waiting", Thread: 1}
	for i := range frames {
		t.Frames = append(t.Frames, plugin.LanguageFrame{Function: fmt.Sprint(name, i), File: "demo.toy", Line: i + 1, Guess: i == 1})
	}
	return t
}

func decorateToy(s *plugin.Stack, down plugin.Range) *plugin.Decoration {
	d := &plugin.Decoration{Thread: plugin.ThreadFacts{State: "runs toy"}}
	for level := range s.Frames {
		f := &s.Frames[level]
		if f.AddressInBlock >= down.Lo && f.AddressInBlock < down.Hi {
			d.Own = append(d.Own, level)
			continue
		}
		if f.AddressInBlock < down.Hi+1<<20 && f.AddressInBlock >= down.Lo-1<<20 {
			continue // the program's other functions
		}
		outer := plugin.LanguageFrame{Function: "toy.outer" + strconv.Itoa(level), File: "demo.toy", Line: level + 1, Kind: "interpreted", Place: f.CFA}
		inner := plugin.LanguageFrame{Function: "toy.inner" + strconv.Itoa(level), File: "demo.toy", Line: level + 101}
		if back, err := s.Word(f.CFA - uint64(s.Target.PtrSize)); err == nil && s.Locals {
			inner.Args = []plugin.Variable{{Name: "back", Type: "int", Value: fmt.Sprintf("%#x", back)}}
		}
		g := plugin.Group{Anchor: plugin.Anchor{Level: level}, Frames: []plugin.LanguageFrame{inner, outer}}
		if level%4 == 1 {
			g.Anchor = plugin.Anchor{Address: f.CFA - 1}
		}
		d.Groups = append(d.Groups, g)
	}
	if len(d.Groups) == 0 {
		return nil
	}
	return d
}

func init() {
	for name, d := range map[string]toy{
		"toy": {}, "toy-unknown": {find: errors.New("the release of toy is not known")}, "toy-none": {find: plugin.ErrNoRuntime},
	} {
		modes[name] = func() { plugin.ServeDecorator(d) }
	}
	calls := 0
	for name, spoil := range map[string]func(*plugin.Stack, *plugin.Decoration) error{
		"hang":  func(*plugin.Stack, *plugin.Decoration) error { hang(); return nil },
		"crash": func(*plugin.Stack, *plugin.Decoration) error { panic("index out of range") },
		"early": func(_ *plugin.Stack, d *plugin.Decoration) error { d.Early = "enough"; return nil },
		"fails": func(*plugin.Stack, *plugin.Decoration) error { return errors.New("a record is broken") },
		"slow":  func(*plugin.Stack, *plugin.Decoration) error { time.Sleep(100 * time.Millisecond); return nil },
		"nowhere": func(_ *plugin.Stack, d *plugin.Decoration) error {
			d.Groups[0].Anchor = plugin.Anchor{Address: 16}
			return nil
		},
		"random": func(_ *plugin.Stack, d *plugin.Decoration) error {
			calls++
			d.Thread.State = fmt.Sprint(calls)
			return nil
		},
		"timed": func(_ *plugin.Stack, d *plugin.Decoration) error {
			d.Thread.Waits = []plugin.Lock{{Kind: "lock", Timed: true}}
			return nil
		},
		"holds-timed": func(_ *plugin.Stack, d *plugin.Decoration) error {
			d.Thread.Holds = []plugin.Lock{{Kind: "lock", Timed: true}}
			return nil
		},
		"nameless": func(_ *plugin.Stack, d *plugin.Decoration) error { d.Groups[0].Frames[0].Function = ""; return nil },
		"large": func(_ *plugin.Stack, d *plugin.Decoration) error {
			for i := range 20_000 {
				d.Groups[0].Frames = append(d.Groups[0].Frames, plugin.LanguageFrame{Function: fmt.Sprint("toy.deep", i), File: "/a/rather/long/path/of/a/file.toy"})
			}
			return nil
		},
	} {
		modes["toy-"+name] = func() { plugin.ServeDecorator(toy{spoil: spoil}) }
	}
	for name, list := range map[string]func(*plugin.Stack) ([]plugin.Task, error){
		"tasks": func(*plugin.Stack) ([]plugin.Task, error) {
			inner, outer := toyTask(16, "inner", 2), toyTask(32, "outer", 1)
			inner.AwaitedBy, outer.State = []uint64{outer.ID}, "running"
			inner.Waits = []plugin.Lock{{Kind: "semaphore", Address: 48, Timed: true}}
			return []plugin.Task{outer, inner}, nil
		},
		"tasks-large": func(*plugin.Stack) (list []plugin.Task, _ error) {
			for i := range 3000 {
				list = append(list, toyTask(uint64(i+1), fmt.Sprint("a task with a rather long name, of number ", i, ":"), 10))
			}
			return append(list, toyTask(1<<20, "deep", 20_000)), nil
		},
		"tasks-fails": func(*plugin.Stack) ([]plugin.Task, error) {
			return []plugin.Task{toyTask(16, "one", 1)}, errors.New("a task is broken")
		},
		"tasks-twice": func(*plugin.Stack) ([]plugin.Task, error) {
			return []plugin.Task{toyTask(16, "a", 1), toyTask(32, "b", 1), toyTask(16, "c", 1)}, nil
		},
		"tasks-unknown": func(*plugin.Stack) ([]plugin.Task, error) {
			return []plugin.Task{{ID: 1, Kind: "toy task", AwaitedBy: []uint64{2}}}, nil
		},
		"tasks-kind":  func(*plugin.Stack) ([]plugin.Task, error) { return []plugin.Task{{ID: 1}}, nil },
		"tasks-id":    func(*plugin.Stack) ([]plugin.Task, error) { return []plugin.Task{{Kind: "toy task"}}, nil },
		"tasks-crash": func(*plugin.Stack) ([]plugin.Task, error) { panic("index out of range") },
		"tasks-hang":  func(*plugin.Stack) ([]plugin.Task, error) { hang(); return nil, nil },
		"tasks-random": func(*plugin.Stack) ([]plugin.Task, error) {
			calls++
			return []plugin.Task{toyTask(uint64(calls), "one", 1)}, nil
		},
	} {
		modes["toy-"+name] = func() { plugin.ServeDecorator(toy{tasks: list}) }
	}
}
