package report

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Task is a task of a language: a coroutine, a virtual thread.
type Task struct {
	ID        address.Hex   `json:"id"`
	Language  string        `json:"language"`
	Name      string        `json:"name"`
	Kind      string        `json:"kind"`
	State     string        `json:"state"`
	TID       int           `json:"tid,omitempty"`
	AwaitedBy []address.Hex `json:"awaited_by,omitempty"`
	Frames    []TaskFrame   `json:"frames"` // the innermost first
	Error     string        `json:"error,omitempty"`

	Runtime int `json:"-"` // tells the run times of a process from each other
}

// TaskFrame is a frame of a task.
type TaskFrame struct {
	Level    int    `json:"level"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Kind     string `json:"kind,omitempty"`
}

// maxTasks bounds the tasks that are printed, and maxTaskFrames the frames of all of them.
const (
	maxTasks      = 1 << 20
	maxTaskFrames = 1 << 22
)

// TasksOf returns a document with the tasks of all languages in a process, all of one moment where
// the process allows it.
func TasksOf(s Source, flags *Flags) (*Document, error) {
	found := newLanguages(s, flags, true)
	doc := &Document{Arch: s.Arch().Name, Digits: 2 * s.Arch().PtrSize, Threads: []Thread{}, Tasks: []Task{}}
	aboutSource(s, flags, doc)
	taskers := 0
	for _, r := range found.runtimes {
		if _, ok := r.Runtime.(language.Tasker); ok {
			taskers++
		}
	}
	if taskers == 0 {
		err := errors.New("--tasks: the process has no run time of a language that has tasks (asyncio's, virtual threads)")
		for _, text := range found.failed {
			err = fmt.Errorf("%w\n%s", err, text)
		}
		return nil, err
	}
	lists, errs := make([][]language.Task, len(found.runtimes)), make([]error, len(found.runtimes))
	read := func(m target.Memory) {
		for i, r := range found.runtimes {
			if t, ok := r.Runtime.(language.Tasker); ok {
				lists[i], errs[i] = tasksOf(t, m)
			}
		}
	}
	memory := s.Memory()
	if h, ok := s.(goroutines.Holder); ok {
		memory = h.Now() // the copies of Memory are for stacks
	}
	if h, ok := s.(Retaker); ok && h.OneMoment() {
		read(memory) // what does not change need not be read while the process is held
		if err := h.Retake(func() { read(memory) }); err != nil {
			found.failed = append(found.failed, fmt.Sprintf("the tasks are of different moments: %v", err))
		}
	} else {
		read(memory)
	}
	frames := 0
	for i, r := range found.runtimes {
		if errs[i] != nil {
			found.failed = append(found.failed, fmt.Sprintf("some tasks of %s are missing: %v", r.Language, errs[i]))
		}
		for j := range lists[i] {
			if len(doc.Tasks) == maxTasks || frames > maxTaskFrames {
				found.failed = append(found.failed, fmt.Sprintf("there are more than %d tasks, or %d frames of these: the others are left out", maxTasks, maxTaskFrames))
				break
			}
			t := &lists[i][j]
			x := Task{ID: address.At(t.ID), Language: r.Language, Name: t.Name, Kind: t.Kind, State: t.State, TID: t.Thread, Frames: []TaskFrame{}, Error: t.Early, Runtime: i}
			for _, id := range t.AwaitedBy {
				x.AwaitedBy = append(x.AwaitedBy, address.At(id))
			}
			for level, f := range t.Frames {
				if flags.MaxFrames > 0 && level == flags.MaxFrames {
					break
				}
				x.Frames = append(x.Frames, TaskFrame{level, f.Function, f.File, f.Line, f.Kind})
			}
			frames += len(x.Frames)
			doc.Tasks = append(doc.Tasks, x)
		}
	}
	finish(s, doc)
	doc.Warnings = append(s.Warnings(), found.warnings()...)
	return doc, nil
}

// tasksOf has one run time list its tasks. A decorator that fails has none.
func tasksOf(r language.Tasker, m target.Memory) (list []language.Task, err error) {
	defer func() {
		if x := recover(); x != nil {
			list, err = nil, fmt.Errorf("the decorator has failed: %v", x)
		}
	}()
	return r.Tasks(m)
}
