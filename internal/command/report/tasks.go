package report

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/goroutines"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// Task is a task of a language: a coroutine, a virtual thread.
type Task struct {
	ID        address.Hex   `json:"id"`
	Number    uint64        `json:"number,omitempty"`
	Language  string        `json:"language"`
	Name      string        `json:"name"`
	Kind      string        `json:"kind"`
	State     string        `json:"state"`
	TID       int           `json:"tid,omitempty"`
	AwaitedBy []address.Hex `json:"awaited_by,omitempty"`
	Links     []string      `json:"links,omitempty"` // what ends together with it
	Waits     []waits.Lock  `json:"waits,omitempty"` // what it waits for, beside other tasks
	Frames    []TaskFrame   `json:"frames"`          // the innermost first
	Error     string        `json:"error,omitempty"`

	Runtime int `json:"-"` // tells the run times of a process from each other
}

// TaskFrame is a frame of a task.
type TaskFrame struct {
	Level    int    `json:"level"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column,omitempty"`
	Kind     string `json:"kind,omitempty"`
}

// maxTasks bounds the tasks that are printed, and maxTaskFrames the frames of all of them.
const (
	maxTasks      = 1 << 20
	maxTaskFrames = 1 << 22
)

// TaskSaver is a [Source] that may have the tasks that languages listed when it was copied.
type TaskSaver interface {
	// Tasks returns what [language.SaveTasks] has made; nil if there is nothing.
	Tasks() []byte
}

// TasksOf returns a document with the tasks of all languages in a process, all of one moment where
// the process allows it.
func TasksOf(s Source, flags *Flags) (*Document, error) {
	doc := &Document{Arch: s.Arch().Name, Digits: 2 * s.Arch().PtrSize, Threads: []Thread{}, Tasks: []Task{}}
	aboutSource(s, flags, doc)
	lists, warnings, err := taskLists(s, flags)
	if err != nil {
		return nil, err
	}
	flags.Kept.keepTasks(lists)
	frames, shared := 0, map[*language.Frame][]TaskFrame{} // by the first: thousands of tasks may have the same frames
	for i, list := range lists {
		if list.Error != "" {
			warnings = append(warnings, fmt.Sprintf("some tasks of %s are missing: %s", list.Language, list.Error))
		}
		for j := range list.Tasks {
			if len(doc.Tasks) == maxTasks || frames > maxTaskFrames {
				warnings = append(warnings, fmt.Sprintf("there are more than %d tasks, or %d frames of these: the others are left out", maxTasks, maxTaskFrames))
				break
			}
			t := &list.Tasks[j]
			x := Task{ID: address.At(t.ID), Number: t.Number, Language: list.Language, Name: t.Name, Kind: t.Kind, State: t.State, TID: t.Thread, Links: t.Links, Waits: waits.Locks(t.Waits), Frames: []TaskFrame{}, Error: t.Early, Runtime: i}
			for _, id := range t.AwaitedBy {
				x.AwaitedBy = append(x.AwaitedBy, address.At(id))
			}
			if n := len(t.Frames); n > 0 {
				x.Frames = shared[&t.Frames[0]]
				if n = min(n, cmp.Or(flags.MaxFrames, n)); len(x.Frames) != n {
					x.Frames = taskFrames(t.Frames[:n])
					shared[&t.Frames[0]] = x.Frames
				}
			}
			frames += len(x.Frames)
			doc.Tasks = append(doc.Tasks, x)
		}
	}
	finish(s, doc)
	doc.Warnings = append(s.Warnings(), warnings...)
	return doc, nil
}

func taskFrames(list []language.Frame) []TaskFrame {
	frames := make([]TaskFrame, len(list))
	for level := range list {
		f := &list[level]
		frames[level] = TaskFrame{level, f.Function, f.File, f.Line, f.Column, f.Kind}
	}
	return frames
}

// mostHeld is how long a process may be held while its tasks are read.
const mostHeld = 100 * time.Millisecond

// taskLists returns the tasks of each run time of a process.
func taskLists(s Source, flags *Flags) (lists []language.TaskList, warnings []string, err error) {
	if from, ok := s.(TaskSaver); ok && from.Tasks() != nil {
		lists, err = language.RestoreTasks(from.Tasks())
		return lists, nil, err
	}
	found := newLanguages(s, flags, true)
	defer found.close()
	var taskers []language.Tasker
	for _, r := range found.runtimes {
		if t, ok := r.Runtime.(language.Tasker); ok {
			taskers, lists = append(taskers, t), append(lists, language.TaskList{Language: r.Language})
		}
	}
	if len(taskers) == 0 {
		err := fmt.Errorf("--tasks: the process has no run time of a language that has tasks (%s)", TaskNames())
		for _, text := range found.failed {
			err = fmt.Errorf("%w\n%s", err, text)
		}
		if _, ok := s.(TaskSaver); ok {
			err = fmt.Errorf("%w: the snapshot has tasks if it was saved by attach --tasks --save", err)
		}
		return nil, nil, err
	}
	read := func(m target.Memory) {
		for i, t := range taskers {
			lists[i].Tasks, lists[i].Error = tasksOf(t, m)
		}
	}
	memory := s.Memory()
	if h, ok := s.(goroutines.Holder); ok {
		memory = h.Now() // the copies of Memory are for stacks
	}
	timed := func() time.Duration {
		begin := time.Now()
		read(memory)
		return time.Since(begin)
	}
	took := timed()
	h, ok := s.(Retaker)
	if ok && h.OneMoment() && took > mostHeld {
		took = timed() // what does not change is known now
	}
	switch { // what does not change was read while the process ran
	case !ok || !h.OneMoment():
	case took > mostHeld:
		found.failed = append(found.failed, fmt.Sprintf("the tasks are of different moments: to read them takes %v, and the process is not held for that long", took.Round(time.Millisecond)))
	default:
		if err := h.Retake(func() { read(memory) }); err != nil {
			found.failed = append(found.failed, fmt.Sprintf("the tasks are of different moments: %v", err))
		}
	}
	return lists, found.warnings(), nil
}

// tasksOf has one run time list its tasks, and says why some are missing. A decorator that fails
// has none.
func tasksOf(r language.Tasker, m target.Memory) (list []language.Task, missing string) {
	defer func() {
		if x := recover(); x != nil {
			list, missing = nil, fmt.Sprintf("the decorator has failed: %v", x)
		}
	}()
	list, err := r.Tasks(m)
	if err != nil {
		missing = err.Error()
	}
	return list, missing
}
