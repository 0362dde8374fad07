// Decorator-toy knows the frames of toy.c, an interpreter.
package main

import (
	"errors"
	"path"

	"github.com/sfwalk/sfwalk/plugin"
)

type decorator struct{}

// Describe says which files of a process may be the interpreter.
func (decorator) Describe() plugin.Description {
	return plugin.Description{
		Name: "toy-frames", Version: "1.0", Architectures: []string{"amd64", "arm64"},
		Decorates: &plugin.Decorates{Language: "toy", Modules: []string{"toy*"}, Tasks: true},
	}
}

// Find is called for each such file, once for a process.
func (decorator) Find(t *plugin.Target) (plugin.Runtime, error) {
	var at [4]uint64
	for i, name := range []string{"toy_top", "toy_file", "toy_tasks", "toy_waits"} {
		found, err := t.Lookup(name, path.Base(t.Runtime.Path))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, plugin.ErrNoRuntime
		}
		at[i] = found[0].Lo
	}
	return runtime{top: at[0], file: at[1], tasks: at[2], waits: at[3]}, nil
}

// runtime has the addresses of the interpreter's variables.
type runtime struct{ top, file, tasks, waits uint64 }

// What the interpreter's structs have, by their offsets.
const (
	recordCaller   = 0
	recordFunction = 8
	recordLine     = 16
	taskNext       = 0
	taskFunction   = 8
	functionLine   = 32
	longestName    = 32
)

// Decorate is called for each thread.
func (r runtime) Decorate(s *plugin.Stack) (*plugin.Decoration, error) {
	record, err := s.Word(r.top)
	if err != nil {
		return nil, err
	}
	if _, ok := s.LevelAt(record); !ok {
		return nil, nil // it runs in another thread, or not at all
	}
	file, err := s.Text(r.file, 256)
	if err != nil {
		return nil, err
	}
	d := &plugin.Decoration{}
	if seconds, err := s.Uint(r.waits, 4); err == nil && seconds != 0 {
		d.Thread.Waits = []plugin.Lock{{Kind: "signal", Timed: int32(seconds) > 0}}
	}
	for record != 0 {
		f := plugin.LanguageFrame{File: file, Place: record}
		function, err := s.Word(record + recordFunction)
		if err == nil {
			f.Function, err = s.Text(function, longestName)
		}
		line, e := s.Uint(record+recordLine, 4)
		caller, e2 := s.Word(record + recordCaller)
		if err := errors.Join(err, e, e2); err != nil {
			return d, err
		}
		if f.Function == "" || caller != 0 && caller <= record { // callers lie outward
			return d, errors.New("a record makes no sense")
		}
		f.Line = int(int32(line))
		d.Groups = append(d.Groups, plugin.Group{
			Anchor: plugin.Anchor{Address: record}, Frames: []plugin.LanguageFrame{f},
		})
		record = caller
	}
	return d, nil
}

// mostTasks bounds a list that may lead in a circle.
const mostTasks = 1000

// Tasks is called if the user asks for tasks: the calls that have not begun.
func (r runtime) Tasks(s *plugin.Stack) (list []plugin.Task, err error) {
	file, err := s.Text(r.file, 256)
	if err != nil {
		return nil, err
	}
	for task, err := s.Word(r.tasks); ; task, err = s.Word(task + taskNext) {
		switch {
		case err != nil:
			return list, err
		case task == 0:
			return list, nil
		case len(list) == mostTasks:
			return list, errors.New("there are too many")
		}
		function, err := s.Word(task + taskFunction)
		if err != nil {
			return list, err
		}
		name, err := s.Text(function, longestName)
		line, e := s.Uint(function+functionLine, 4)
		if err := errors.Join(err, e); err != nil {
			return list, err
		}
		list = append(list, plugin.Task{
			ID: task, Name: name, Kind: "call", State: "waiting",
			Frames: []plugin.LanguageFrame{{Function: name, File: file, Line: int(int32(line)), Place: task}},
		})
	}
}

func main() { plugin.ServeDecorator(decorator{}) }
