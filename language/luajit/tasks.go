package luajit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/internal/luajit"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/coroutines"
	"github.com/sfwalk/sfwalk/language/internal/scan"
	"github.com/sfwalk/sfwalk/target"
)

// yielded is the status of a coroutine that has yielded (LUA_YIELD).
const yielded = 1

// Tasks implements [language.Tasker]: the coroutines that have not ended, of all states in the
// process. They are objects of the garbage collector, which keeps all objects in a list, the newest
// first. The list never lacks one that lives. One that nothing refers to any more is in it as well,
// until the collector has found that out.
func (x *runtime) Tasks(of target.Memory) ([]language.Task, error) {
	if x.writable == nil {
		return nil, errors.New("the memory that the process can change is not known")
	}
	writable := x.writable()
	l := &tasks{reader: x.reader(of)}
	defer l.Free()
	if x.threads != nil {
		if threads, err := x.threads(); err == nil {
			l.stacks = scan.StacksOf(x.arch, threads, writable)
		}
	}
	mains, err := x.main.In(of, x.arch.Order, writable, luajit.StateGlobal, l.isMain)
	for _, main := range mains {
		if wrong := l.group(main); err == nil {
			err = wrong
		}
	}
	return l.list, err
}

// tasks are the coroutines of a process, as they are found.
type tasks struct {
	*reader
	stacks *scan.Stacks // nil if they are not known
	list   []language.Task
	walk   coroutines.Walk
}

// isMain reports whether the main state of a group is at an address, with its stack.
func (r *reader) isMain(at uint64) bool {
	global, ok := luajit.GlobalOf(r, at)
	if !ok || r.Pointer(global+luajit.GlobalMain) != at {
		r.Err()
		return false
	}
	s, ok := r.stackOf(luajit.Frame{State: at, Global: global})
	return ok && !s.freed()
}

// active is a coroutine that runs, or has resumed another one.
type active struct {
	frame uint64 // of the machine, on the C stack
	task  int    // in the list
}

// group adds the coroutines that share the global_State of a main state.
func (l *tasks) group(main uint64) error {
	global := l.Pointer(main + luajit.StateGlobal)
	dead := ^l.Uint(global+luajit.GlobalWhite, 1) & luajit.WhiteBits
	first := len(l.list)
	var resumed []active
	err := l.walk.Objects(l.Reader, l.Pointer(global+luajit.GlobalObjects), luajit.ObjectNext, func(at uint64) error {
		kind := l.Uint(at+luajit.StateType, 1)
		switch err := l.Err(); {
		case err != nil || kind < luajit.TypeString || kind > luajit.TypeUserdata:
			return cmp.Or(err, fmt.Errorf("the list of objects at %#x makes no sense", global))
		case kind == luajit.TypeThread && at != main && l.Uint(at+luajit.ObjectMarked, 1)&dead == 0 && l.Pointer(at+luajit.StateGlobal) == global:
			return l.coroutine(luajit.Frame{State: at, Global: global}, &resumed)
		}
		return nil
	})
	// Who is resumed begins inside of where it was resumed.
	slices.SortFunc(resumed, func(a, b active) int { return cmp.Compare(a.frame, b.frame) })
	for i, a := range resumed[:max(len(resumed), 1)-1] {
		l.list[a.task].AwaitedBy = []uint64{l.list[resumed[i+1].task].ID}
	}
	slices.Reverse(l.list[first:])
	return err
}

// coroutine adds a coroutine that has not ended, in the state that coroutine.status tells.
func (l *tasks) coroutine(at luajit.Frame, resumed *[]active) error {
	s, ok := l.stackOf(at)
	if !ok || s.freed() {
		return nil // it is just being made
	}
	if s.inner != 0 {
		if f, ok := luajit.FrameAt(l, l.arch.LuaJIT, s.inner); ok {
			s.Frame = f
		}
	}
	t := language.Task{ID: at.State, Kind: "coroutine", State: "suspended"}
	begun := true
	switch status := l.Uint(at.State+luajit.StateStatus, 1); {
	case status == yielded:
	case status != 0:
		return nil // it has failed
	case s.base > s.lo+2*8:
		t.State = "normal"
		if luajit.Current(l, at.Global) == at.State {
			t.State, begun = "running", false // a thread has its frames
		}
		if l.stacks != nil {
			t.Thread = l.stacks.Thread(s.inner)
		}
		*resumed = append(*resumed, active{s.inner, len(l.list)})
	case l.Pointer(at.State+luajit.StateTop) == s.base:
		return nil // it has ended
	default:
		begun = false
	}
	if begun {
		calls, why := s.calls(top{base: s.base})
		t.Early = why
		for _, c := range calls {
			t.Frames = append(t.Frames, l.frameOf(at.Global, c))
		}
	}
	if wrong := l.Err(); wrong != nil && t.Early == "" {
		t.Early = wrong.Error()
	}
	l.list = append(l.list, t)
	return l.walk.Task(len(t.Frames))
}
