package lua

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/coroutines"
	"github.com/sfwalk/sfwalk/language/internal/scan"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

// mostType is the highest type of an object.
const mostType = 11

// Tasks implements [language.Tasker]: the coroutines that have not ended, of all states in the
// process. They are objects of the garbage collector, which keeps all objects in a list, the newest
// first. The list never lacks one that lives. One that nothing refers to any more is in it as well,
// until the collector has found that out.
func (r *runtime) Tasks(of target.Memory) ([]language.Task, error) {
	if r.writable == nil {
		return nil, errors.New("the memory that the process can change is not known")
	}
	writable := r.writable()
	l := &tasks{
		runtime: r, m: reader{structs.New(r.arch, of, &r.pages), r.layout}, placer: r.newPlacer(&language.Stack{Arch: r.arch}),
	}
	defer l.m.Free()
	if r.threads != nil {
		if threads, err := r.threads(); err == nil {
			l.stacks = scan.StacksOf(r.arch, threads, writable)
		}
	}
	mains, err := r.main.In(of, r.arch.Order, writable, l.m.StateGlobal, func(state uint64) bool { return r.isMain(l.m, state) })
	for _, main := range mains {
		if wrong := l.group(main); err == nil {
			err = wrong
		}
	}
	return l.list, err
}

// tasks are the coroutines of a process, as they are found.
type tasks struct {
	*runtime
	m      reader
	placer *placer
	stacks *scan.Stacks // nil if they are not known
	list   []language.Task
	walk   coroutines.Walk
}

// isMain reports whether the main state of a group is at an address. The first slot of its stack
// has no value.
func (r *runtime) isMain(m reader, at uint64) bool {
	global, ok := r.isState(m, at)
	if !ok || m.mainState(global) != at {
		m.Err()
		return false
	}
	slot := m.Uint(m.Pointer(at+m.StateStack)+m.ValueType, int(m.ValueTypeSize))
	return m.Err() == nil && slot == 0
}

// active is a coroutine that runs, or has resumed another one.
type active struct {
	jump uint64 // where its errors jump, on the C stack
	task int    // in the list
}

// group adds the coroutines that share the global_State of a main state.
func (l *tasks) group(main uint64) error {
	m := l.m
	global := m.Pointer(main + m.StateGlobal)
	dead := ^m.Uint(global+m.GlobalWhite, 1) & m.WhiteBits
	names := l.globalsOf(m, global)
	first := len(l.list)
	var resumed []active
	err := l.walk.Objects(m.Reader, m.Pointer(global+m.GlobalObjects), m.ObjectNext, func(at uint64) error {
		kind := m.Uint(at+m.ObjectType, 1) & typeMask
		switch err := m.Err(); {
		case err != nil || kind > mostType:
			return cmp.Or(err, fmt.Errorf("the list of objects at %#x makes no sense", global))
		case kind == m.ObjectThread && at != main && m.Uint(at+m.ObjectMarked, 1)&dead == 0 && l.made(at, global):
			return l.coroutine(state{at: at, global: global}, names, &resumed)
		}
		return nil
	})
	// Who is resumed begins inside of where it was resumed.
	slices.SortFunc(resumed, func(a, b active) int { return cmp.Compare(a.jump, b.jump) })
	for i, a := range resumed {
		t := &l.list[a.task]
		if i == 0 {
			t.State, t.Frames = "running", nil // a thread has its frames
		}
		if i+1 < len(resumed) {
			t.AwaitedBy = []uint64{l.list[resumed[i+1].task].ID}
		}
	}
	slices.Reverse(l.list[first:])
	return err
}

// made reports whether a coroutine's parts are there: it is in the list before.
func (l *tasks) made(at, global uint64) bool {
	of, ok := l.isState(l.m, at)
	return ok && of == global
}

// coroutine adds a coroutine that has not ended, in the state that coroutine.status tells.
func (l *tasks) coroutine(st state, names globals, resumed *[]active) error {
	m := l.m
	t := language.Task{ID: st.at, Kind: "coroutine", State: "suspended"}
	first, top := st.at+m.StateBase, m.Pointer(st.at+m.StateTop)
	slots := uint64(0)
	if m.Version == 501 {
		first, slots = m.Pointer(first), m.Pointer(st.at+m.StateSlots)
	} else {
		slots = m.Pointer(first+m.CallFunc) + m.Value
	}
	begun := true
	switch status := m.Uint(st.at+m.StateStatus, 1); {
	case status == m.StateYielded:
	case status != 0:
		return nil // it has failed
	case m.Pointer(st.at+m.StateCall) != first:
		jump := m.Pointer(st.at + m.StateJump)
		t.State = "normal"
		if l.stacks != nil {
			t.Thread = l.stacks.Thread(jump)
		}
		*resumed = append(*resumed, active{jump, len(l.list)})
	case top == slots:
		return nil // it has ended
	default:
		begun = false
	}
	if m.OK() && begun {
		calls, err := l.calls(m, st)
		if err != nil {
			t.Early = err.Error()
		}
		t.Frames = l.placer.frames(m, run{calls: calls}, names, -1)
	}
	if wrong := m.Err(); wrong != nil && t.Early == "" {
		t.Early = wrong.Error()
	}
	l.list = append(l.list, t)
	return l.walk.Task(len(t.Frames))
}
