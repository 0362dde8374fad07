package python

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sfwalk/sfwalk/target"
)

// asyncioOffsets is what the section .AsyncioDebug of the module _asyncio tells from 3.14 on
// (Py_AsyncioModuleDebugOffsets in Modules/_asynciomodule.c), bytes.
type asyncioOffsets struct {
	awaitedBy, awaitedByIsSet, node uint64 // of a task
	interpreterHead, threadHead     uint64 // the lists of tasks
}

const asyncioSection = ".AsyncioDebug"

// isAsyncio reports whether a file is the module _asyncio: it has the names of the release and of
// the platform behind that.
func isAsyncio(path string) bool { return strings.HasPrefix(filepath.Base(path), "_asyncio.") }

// asyncioOffsets reads the section; nil if the process has none, or one that cannot be right.
func (r *interpreter) asyncioOffsets(m target.Memory) *asyncioOffsets {
	find := func(mod *target.Module) *asyncioOffsets {
		im, bias, err := mod.PeekImage()
		if err != nil {
			return nil
		}
		for _, s := range im.ELF().Sections {
			if s.Name != asyncioSection || s.Addr == 0 {
				continue
			}
			const words = 13
			var raw [8 * words]byte
			if n, _ := m.ReadMemory(s.Addr+bias, raw[:]); n < len(raw) {
				if im.ReadLoaded(s.Addr, raw[:]) < len(raw) {
					return nil
				}
			}
			var v [words]uint64
			for i := range v {
				if v[i] = r.arch.Order.Uint64(raw[8*i:]); v[i] >= maxOffset {
					return nil
				}
			}
			// task: size, name, awaited_by, is_task, awaited_by_is_set, coro, node;
			// interpreter: size, tasks_head; thread: size, running_loop, running_task, tasks_head
			return &asyncioOffsets{awaitedBy: v[2], awaitedByIsSet: v[4], node: v[6], interpreterHead: v[8], threadHead: v[12]}
		}
		return nil
	}
	for _, mod := range r.modules.All() {
		if mod != r.module && !isAsyncio(mod.Path) {
			continue
		}
		if found := find(mod); found != nil {
			return found
		}
	}
	return nil
}

// ofThread adds the tasks of a thread.
func (t *tasks) ofThread(s *threadState) {
	if t.debug != nil {
		t.nodes(s.addr + t.debug.threadHead)
	}
}

// nodes adds the tasks of a list, whose head is at an address: each node has the addresses of the
// next one and of the one before.
func (t *tasks) nodes(head uint64) {
	o := t.o
	before, at := head, uint64(0)
	at, err := o.word(head)
	if err != nil || at == 0 {
		return // the list was not initialised yet
	}
	for n := 0; at != head; n++ {
		if n == mostTasks {
			t.fail(fmt.Errorf("the list of tasks at %#x does not end", head))
			return
		}
		words, err := o.words(at, 2)
		if err == nil && words[1] != before {
			err = fmt.Errorf("the list of tasks at %#x is broken", head)
		}
		if err != nil {
			t.fail(err)
			return
		}
		t.add(at-t.debug.node, t.read)
		before, at = at, words[0]
	}
}

// noted calls do with the tasks that wait for a task or another future, as it has noted them.
func (t *tasks) noted(object uint64, depth int, do func(task int)) {
	o := t.o
	by, err := o.word(object + t.debug.awaitedBy)
	if err != nil || by == 0 || depth == mostFutures {
		return
	}
	follow := func(x uint64) {
		if i, ok := t.at[x]; ok {
			do(i)
			return
		}
		if c, err := o.typeOf(x); err == nil && (c.name == "Future" || c.name == "_asyncio.Future" || c.name == "_GatheringFuture") {
			t.noted(x, depth+1, do)
		}
	}
	var isSet [1]byte
	if n, _ := o.ReadMemory(object+t.debug.awaitedByIsSet, isSet[:]); n == 0 {
		return
	}
	if isSet[0] == 0 {
		follow(by)
		return
	}
	_ = o.members(by, func(x uint64) bool { follow(x); return true })
}
