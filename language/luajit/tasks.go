package luajit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/internal/luajit"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/scan"
	"github.com/sfwalk/sfwalk/target"
)

const (
	mostSearched = 4 << 30 // bytes that are searched for states
	mostGroups   = 1 << 12 // of states that share a global_State
	mostObjects  = 1 << 25 // that are looked at
	mostTasks    = 1 << 18
	mostFrames   = 1 << 20 // of all tasks together
	near         = 2 << 10 // how far the main state is from its global_State at most, bytes
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
	l := &tasks{reader: x.reader(of), left: mostObjects}
	defer l.Free()
	if x.threads != nil {
		if threads, err := x.threads(); err == nil {
			l.stacks = scan.StacksOf(x.arch, threads, writable)
		}
	}
	mains, err := x.mains(of, l.reader, writable)
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
	left   int // objects that may be looked at
	frames int
}

// mains returns the addresses of all main states. The process is searched through once: the next
// time, the states are still there that were.
func (x *runtime) mains(of target.Memory, r *reader, writable []target.Mapping) (list []uint64, err error) {
	if known := x.main.Load(); known != nil {
		for _, at := range *known {
			if r.isMain(at) {
				list = append(list, at)
			}
		}
		return list, nil
	}
	var room scan.Room
	whole := room.Words(of, writable, mostSearched, func(at uint64, data []byte) {
		for i := 0; i < len(data); i += 8 {
			state := at + uint64(i) - luajit.StateGlobal
			// Both are in one piece of memory.
			if x.arch.Order.Uint64(data[i:])-state < near && r.isMain(state) && len(list) < mostGroups {
				list = append(list, state)
			}
		}
	})
	switch {
	case !whole:
		err = fmt.Errorf("the process has more than %d GiB of memory that can have states of Lua: the rest was not searched", mostSearched>>30)
	case len(list) == mostGroups:
		err = fmt.Errorf("there are more than %d groups of states", mostGroups)
	}
	x.main.Store(&list)
	return list, err
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
	first, begin := len(l.list), l.left
	var resumed []active
	mark := uint64(0) // a list that goes round comes back to a mark
	var err error
	for at := l.Pointer(global + luajit.GlobalObjects); at != 0 && err == nil; at = l.Pointer(at + luajit.ObjectNext) {
		l.left--
		if n := begin - l.left; n&(n-1) == 0 {
			mark = at
		} else if at == mark {
			err = fmt.Errorf("the list of objects at %#x goes round", global)
			break
		}
		kind := l.Uint(at+luajit.StateType, 1)
		switch wrong := l.Err(); {
		case wrong != nil || kind < luajit.TypeString || kind > luajit.TypeUserdata:
			err = cmp.Or(wrong, fmt.Errorf("the list of objects at %#x makes no sense", global))
		case l.left == 0:
			err = fmt.Errorf("there are more than %d objects", mostObjects)
		case kind != luajit.TypeThread || at == main || l.Uint(at+luajit.ObjectMarked, 1)&dead != 0:
		case len(l.list) == mostTasks || l.frames > mostFrames:
			err = fmt.Errorf("there are more than %d coroutines, or more than %d frames of them", mostTasks, mostFrames)
		case l.Pointer(at+luajit.StateGlobal) == global:
			l.coroutine(luajit.Frame{State: at, Global: global}, &resumed)
		}
	}
	if wrong := l.Err(); err == nil {
		err = wrong
	}
	// Who is resumed begins inside of where it was resumed.
	slices.SortFunc(resumed, func(a, b active) int { return cmp.Compare(a.frame, b.frame) })
	for i, a := range resumed[:max(len(resumed), 1)-1] {
		l.list[a.task].AwaitedBy = []uint64{l.list[resumed[i+1].task].ID}
	}
	slices.Reverse(l.list[first:])
	return err
}

// coroutine adds a coroutine that has not ended, in the state that coroutine.status tells.
func (l *tasks) coroutine(at luajit.Frame, resumed *[]active) {
	s, ok := l.stackOf(at)
	if !ok || s.freed() {
		return // it is just being made
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
		return // it has failed
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
		return // it has ended
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
	l.frames += len(t.Frames)
	l.list = append(l.list, t)
}
