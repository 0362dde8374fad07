package rust

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/value"
)

// chain follows the future at an address down to what it waits for, and gives the task with number
// i in the list its frames. Where a future waits for several others, each of them is a task below.
func (t *tasks) chain(i int, at uint64, typ *value.Type) {
	spots := t.spots[:0]
	early := ""
	var branches []found
	for {
		s := t.shapeOf(typ)
		if !t.step() {
			break
		}
		if len(spots) == mostDeep {
			early = fmt.Sprintf("more than %d futures wait for each other", mostDeep)
			break
		}
		if s.way == byMachine {
			n := uint64(0)
			if s.machine.size > 0 {
				n = t.Uint(at+s.machine.offset, s.machine.size)
			}
			x := s.machine.state(n)
			if err := t.Err(); err != nil {
				early = err.Error()
				break
			}
			spots = append(spots, spot{s, x})
			if x == nil {
				early = fmt.Sprintf("%s is in state %d, which it does not have", s.name, n)
				break
			}
			if x.by != nil {
				branches = append(branches, found{at: at, way: byExecutor, by: x.by})
			}
			if x.typ == nil {
				break
			}
			at, typ = at+x.awaitee.offset, x.typ
			continue
		}
		var list []found
		t.untyped = false
		t.parts(at, s, &list, 0)
		if t.untyped {
			early = "the type of a future behind a pointer to dyn Future is not known: what it waits for is not shown"
		}
		if s.name != "" {
			spots = append(spots, spot{of: s})
		}
		list = slices.DeleteFunc(list, func(f found) bool { // which is run beside the other one
			if f.way == byLocalSet {
				branches = append(branches, f)
			}
			return f.way == byLocalSet
		})
		if len(list) == 1 && list[0].typ != nil {
			at, typ = list[0].at, list[0].typ
			continue
		}
		branches = append(branches, list...)
		break
	}
	x := &t.list[i]
	x.Frames = t.framesOf(spots)
	x.Early = early
	if n := len(spots); n > 0 && spots[n-1].of.way == byLock {
		if to := t.Pointer(at + spots[n-1].of.lock); t.Err() == nil {
			x.Waits = append(x.Waits, language.Lock{Kind: lockKind(spots), Address: to, Level: -1})
		}
	}
	t.spots = spots
	for _, b := range slices.Backward(branches) {
		t.branches = append(t.branches, branch{i, b})
	}
}

// lockKinds are what a semaphore of tokio's is a part of, by the module of the function that waits.
var lockKinds = [...][2]string{
	{"tokio::sync::mutex::", "Mutex"}, {"tokio::sync::rwlock::", "RwLock"}, {"tokio::sync::semaphore::", "Semaphore"},
	{"tokio::sync::mpsc::", "channel"}, {"tokio_util::sync::poll_semaphore::", "Semaphore"},
}

// lockKind says what the innermost future waits for.
func lockKind(spots []spot) string {
	for _, s := range slices.Backward(spots) {
		for _, k := range lockKinds {
			if strings.HasPrefix(s.of.name, k[0]) {
				return k[1]
			}
		}
	}
	return "semaphore"
}

// found is a future, or something else that is waited for.
type found struct {
	at  uint64
	typ *value.Type // of the future; nil for what is no future
	way way
	of  *shape
	by  *executor // with byExecutor
}

// branch is one of several things that a task waits for.
type branch struct {
	of int // the task's number in the list
	found
}

// step counts the work of all tasks together, and reports whether more is allowed.
func (t *tasks) step() bool {
	if t.steps++; t.steps > mostSteps {
		t.fail("there are more than %d parts of futures", mostSteps)
		return false
	}
	return true
}

// parts finds what a future has within it that leads on.
func (t *tasks) parts(at uint64, s *shape, list *[]found, nested int) {
	if nested > mostNested || len(*list) >= mostListed || !t.step() {
		return
	}
	switch s.way {
	case byPointer:
		to := t.Pointer(at)
		if t.Err() == nil && to != 0 {
			t.part(to, s.to, list, nested)
		}
	case byTable:
		to, table := t.Pointer(at), t.Pointer(at+8)
		const poll = 3 // behind drop, size and align
		entry := t.Pointer(table + 8*poll)
		var typ *value.Type
		if t.Err() == nil {
			typ = t.futureOf(table, entry)
		}
		if typ != nil {
			t.part(to, typ, list, nested)
		} else if to != 0 {
			t.untyped = true
		}
	case byTask, byAsyncTask:
		if to := t.Pointer(at + s.parts[0].offset); t.Err() == nil && to != 0 {
			*list = append(*list, found{at: to, way: s.way, of: s})
		}
	case byLocalSet:
		for _, p := range s.parts {
			at = t.Pointer(at + p.offset)
		}
		if t.Err() == nil {
			*list = append(*list, found{at: at, way: byLocalSet, of: s})
		}
	case byList:
		t.listed(at, &s.list, list, nested)
	case byMachine, byLeaf:
		*list = append(*list, found{at: at, typ: s.typ})
	case byParts:
		for i := range s.parts {
			t.parts(at+s.parts[i].offset, s.parts[i].of, list, nested+1)
		}
		if c := s.choice; c != nil {
			n := uint64(0)
			if c.size > 0 {
				if n = t.Uint(at+c.offset, c.size); t.Err() != nil {
					return
				}
			}
			if v := c.pick(n); v != nil {
				for i := range v.parts {
					t.parts(at+v.parts[i].offset, v.parts[i].of, list, nested+1)
				}
			}
		}
	}
}

// part adds an object behind a pointer: if it leads on, or if nothing else can be waited for.
func (t *tasks) part(at uint64, typ *value.Type, list *[]found, nested int) {
	s := t.shapeOf(typ)
	if s.way == byLocalSet {
		t.parts(at, s, list, nested+1)
		return
	}
	if s.leads() || nested == 0 || leaves[s.name] {
		*list = append(*list, found{at: at, typ: typ})
	}
}

// leads reports whether a shape may lead to what is waited for.
func (s *shape) leads() bool { return s.way != byParts || len(s.parts) > 0 || s.choice != nil }

// listed finds the futures of a set.
func (t *tasks) listed(at uint64, l *listed, list *[]found, nested int) {
	if l.arc {
		at = t.Pointer(at + l.holder)
	}
	n := 0
	for _, head := range l.heads {
		seen := map[uint64]bool{}
		for entry := t.Pointer(at + head); entry != 0 && t.OK() && !seen[entry]; entry = t.Pointer(entry + l.next) {
			if n++; n > mostListed {
				t.fail("a set has more than %d futures", mostListed)
				return
			}
			seen[entry] = true
			t.parts(entry+l.item, t.shapeOf(l.typ), list, nested+1)
		}
	}
	t.Err()
}

// branch adds one of several things for which a task waits.
func (t *tasks) branch(of int, b found) {
	by := t.list[of].ID
	switch {
	case b.way == byTask, b.way == byAsyncTask:
		if !slices.Contains(t.awaited[b.at], by) {
			t.awaited[b.at] = append(t.awaited[b.at], by)
		}
		if b.way == byAsyncTask {
			t.addAsync(b.at)
		} else {
			t.wait = append(t.wait, b.at)
		}
		return
	case b.way == byExecutor:
		t.executor(b.at, b.by)
		return
	case b.way == byLocalSet:
		t.owner(b.at, b.of.to)
		return
	case b.typ == nil || t.seen[b.at]:
		return
	case len(t.list) == mostTasks:
		t.fail("there are more than %d tasks", mostTasks)
		return
	}
	t.seen[b.at] = true
	i := len(t.list)
	parent := &t.list[of]
	t.list = append(t.list, language.Task{ID: b.at, Number: parent.Number, Kind: "branch", State: parent.State, AwaitedBy: []uint64{by}})
	t.chain(i, b.at, b.typ)
}
