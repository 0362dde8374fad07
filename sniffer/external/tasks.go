package external

import (
	"errors"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
)

// tasker is a run time whose plug-in has announced tasks.
type tasker struct{ *runTime }

var _ language.Tasker = tasker{}

// Tasks implements [language.Tasker].
func (r tasker) Tasks(m target.Memory) ([]language.Task, error) {
	var t tasks
	if !r.ask("its tasks", func(x *session) (err error) {
		x.about = &asked{arch: r.arch, modules: r.modules, memory: m}
		t, err = x.tasks()
		return err
	}) {
		return nil, nil
	}
	return t.list, t.fails
}

// TasksPatience is how much longer the list of tasks may take than the decoration of a stack: there
// may be tens of thousands.
const TasksPatience = 8

// tasks asks for the tasks, and returns them, checked. The error puts the plug-in out of use.
func (x *session) tasks() (t tasks, err error) {
	x.number++
	m := &protocol.FromHost{Message: &protocol.FromHost_AskTasks{AskTasks: &protocol.AskTasks{Number: x.number}}}
	left, requests := TasksPatience*x.plugin.opts.Deadline, 0
	for pages := 0; ; pages++ {
		reply, n, err := x.exchange(m, left)
		if err != nil {
			return t, err
		}
		left = x.left
		if requests += n; requests > protocol.MaxStackRequests {
			return t, nonsense("more than %d requests for one list of tasks", protocol.MaxStackRequests)
		}
		switch page := reply.GetTasks(); {
		case page == nil:
			return t, nonsense("%T where tasks were wanted", reply.Message)
		case page.Number != x.number:
			return t, nonsense("the tasks of request %d, where the request was %d", page.Number, x.number)
		case pages == protocol.MaxPages:
			return t, nonsense("tasks with more than %d pages", protocol.MaxPages)
		default:
			if err := t.add(page); err != nil || !page.More {
				return t, err
			}
		}
		m = &protocol.FromHost{Message: &protocol.FromHost_GoOn{GoOn: &protocol.Continue{}}}
	}
}

// tasks are tasks of which pages are added one after the other, each checked.
type tasks struct {
	list  []language.Task
	fails error // what the plug-in says has failed; nil for nothing

	texts decorated // makes texts and frames, and counts them
}

// add checks a page and adds it. The error, which wraps ErrNonsense, says what is wrong with it.
func (t *tasks) add(m *protocol.Tasks) error {
	for _, x := range m.Tasks {
		if err := t.task(x); err != nil {
			return err
		}
	}
	if m.Fails != "" {
		t.fails = errors.New(t.texts.text(m.Fails))
	}
	return nil
}

func (t *tasks) task(m *protocol.Task) error {
	switch {
	case m.GetKind() == "":
		return nonsense("a task that is of no kind")
	case m.Id == 0:
		return nonsense("a task without an ID")
	case len(m.AwaitedBy) > protocol.MaxAwaiting:
		return nonsense("a task for which %d others wait: at most %d", len(m.AwaitedBy), protocol.MaxAwaiting)
	case len(m.Waits) > protocol.MaxLocks:
		return nonsense("a task that waits for %d locks: at most %d", len(m.Waits), protocol.MaxLocks)
	}
	if n := len(t.list); n == 0 || t.list[n-1].ID != m.Id { // else more of its frames
		if n == protocol.MaxTasks {
			return nonsense("more than %d tasks", protocol.MaxTasks)
		}
		t.list = append(t.list, language.Task{
			ID: m.Id, Number: m.Number, Name: t.texts.text(m.Name), Kind: t.texts.text(m.Kind), State: t.texts.text(m.State), Thread: int(max(m.Thread, 0)),
			AwaitedBy: m.AwaitedBy, Waits: t.texts.locks(m.Waits), Early: t.texts.text(m.Early),
		})
	}
	task := &t.list[len(t.list)-1]
	if t.texts.frames += len(m.Frames); t.texts.frames > protocol.MaxTaskFrames {
		return nonsense("more than %d frames of tasks", protocol.MaxTaskFrames)
	}
	for _, f := range m.Frames {
		x, err := t.texts.frame(f)
		if err != nil {
			return err
		}
		task.Frames = append(task.Frames, x)
	}
	if t.texts.size > protocol.MaxDecoration {
		return nonsense("texts of more than %d bytes", protocol.MaxDecoration)
	}
	return nil
}
