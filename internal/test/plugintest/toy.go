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
}

// Describe implements [plugin.Decorator].
func (toy) Describe() plugin.Description {
	return plugin.Description{
		Name: "toy-frames", Version: "1.0",
		Decorates: &plugin.Decorates{Language: "toy", Modules: []string{"jit-*"}, Registers: []trad.Reg{3, 6}},
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
	return plugin.RuntimeFunc(func(s *plugin.Stack) (*plugin.Decoration, error) {
		to := decorateToy(s, down[0].Range)
		if to == nil || d.spoil == nil {
			return to, nil
		}
		return to, d.spoil(s, to)
	}), nil
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
}
