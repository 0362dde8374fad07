package plugin

import (
	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// Tasker is a [Runtime] of a language with tasks that are no threads of the system: coroutines,
// fibers. [Decorates].Tasks announces that there are some.
type Tasker interface {
	Runtime
	// Tasks lists the tasks, running ones too, in the order in which they were made where that is
	// known. s is for its memory, which is of one moment if the process allows that; it has no
	// frames and no thread. An error says why the list is not whole; what was found before it may
	// be returned with it.
	Tasks(s *Stack) ([]Task, error)
}

// Task is one task.
type Task struct {
	ID     uint64          // tells it from the other tasks of the run time: the address of its object; not 0
	Number uint64          // by which the language's own dumps call it; 0 if there is none
	Name   string          // as the program calls it; "" if it has no name
	Kind   string          // what the language calls it: "coroutine"
	State  string          // "waiting", "running"
	Thread int             // the ID of the thread that runs it, or will; 0 if not known
	Frames []LanguageFrame // the innermost first, without arguments and local variables
	// AwaitedBy are the IDs of the tasks that wait for this one, at most 64.
	AwaitedBy []uint64
	Waits     []Lock // what it waits for, beside other tasks; at most 64
	Early     string // why Frames end before they should; "" if they do not
}

// tasks answers a request for the tasks. It sends all pages but the last, which it returns.
func (x *session) tasks(m *protocol.AskTasks) (*protocol.FromPlugin, error) {
	var list []Task
	var err error
	s := &Stack{Target: x.query.Target}
	if t, ok := x.runtime.(Tasker); ok {
		list, err = t.Tasks(s)
	}
	pages := taskPages(list, m.Number)
	if err != nil {
		pages[len(pages)-1].Fails = orUnsaid(err.Error())
	}
	messages := make([]*protocol.FromPlugin, len(pages))
	for i, page := range pages {
		messages[i] = &protocol.FromPlugin{Message: &protocol.FromPlugin_Tasks{Tasks: page}}
	}
	return s.Target.sendPages(messages)
}

// taskPages returns tasks as messages: at least one.
func taskPages(list []Task, number uint64) []*protocol.Tasks {
	pages := []*protocol.Tasks{{Number: number}}
	bytes, parts := 0, 0 // on the last page, about
	page := func(size int) *protocol.Tasks {
		last := pages[len(pages)-1]
		if parts > 0 && (bytes+size > pageBytes || parts >= pageFrames) {
			last.More = true
			last = &protocol.Tasks{Number: number}
			pages = append(pages, last)
			bytes, parts = 0, 0
		}
		bytes += size
		parts++
		return last
	}
	for i := range list {
		t, size := list[i].message()
		on := page(size)
		on.Tasks = append(on.Tasks, t)
		for j := range list[i].Frames {
			f, size := list[i].Frames[j].message()
			f.Args, f.Locals = nil, nil
			if p := page(size); p != on { // the task goes on on the next page
				on, t = p, &protocol.Task{Id: t.Id, Kind: t.Kind}
				on.Tasks = append(on.Tasks, t)
			}
			t.Frames = append(t.Frames, f)
		}
	}
	return pages
}

// message returns the task without its frames, and how many bytes it takes, about.
func (t *Task) message() (m *protocol.Task, size int) {
	m = &protocol.Task{
		Id: t.ID, Number: t.Number, Name: text(t.Name), Kind: text(t.Kind), State: text(t.State), Thread: int32(t.Thread),
		AwaitedBy: t.AwaitedBy[:min(len(t.AwaitedBy), protocol.MaxAwaiting)], Early: text(t.Early),
	}
	size = 64 + len(m.Name) + len(m.Kind) + len(m.State) + len(m.Early) + 8*len(m.AwaitedBy)
	m.Waits, size = lockMessages(t.Waits, size)
	return m, size
}
