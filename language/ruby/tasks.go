package ruby

import (
	"errors"
	"slices"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// mostTasks bounds the tasks of a run time.
const mostTasks = 1 << 18

// Tasks implements [language.Tasker]: the fibers that have begun and have not ended, but for the
// ones in which threads began and are; the threads of Ractors, but for the main one; and threads
// that wait until a thread of the system runs them.
func (r *runtime) Tasks(of target.Memory) ([]language.Task, error) {
	m := r.memory(of)
	defer m.Free()
	m.steps *= 8
	if !m.Arch.RubyThreads {
		return nil, errors.New("they are known on amd64 alone")
	}
	variable := r.find(m, &r.machine, m.isMachine)
	vm := m.Pointer(variable)
	if variable == 0 || !m.OK() {
		return nil, errors.New("the virtual machine was not found")
	}
	m.vm = vm
	l := tasks{m: m, vm: vm, seen: map[uint64]bool{}}
	l.threads()
	l.build()
	err := m.Err()
	if err2 := l.fibers(); err == nil {
		err = err2
	}
	if err == nil {
		err = m.Err()
	}
	return l.list, err
}

// tasks is a list of tasks that is being made.
type tasks struct {
	m       *memory
	vm      uint64
	list    []language.Task
	current []uint64 // the contexts of threads
	roots   map[uint64]bool
	seen    map[uint64]bool // fibers
	// moved is how far the fields of fibers behind a jump's buffer lie from where the layout has
	// them; states reports whether that is known.
	moved  uint64
	states bool
}

// isMachine reports whether a variable leads to a virtual machine: its main Ractor's first thread
// leads back.
func (m *memory) isMachine(at uint64) bool {
	vm := m.Pointer(at)
	ractor := m.Pointer(vm + m.vmMainRactor)
	if !isObject(vm) || !isObject(ractor) || !m.OK() {
		return false
	}
	thread := m.Pointer(ractor+m.ractorThreads) - m.threadNext
	return m.Pointer(thread+m.threadVM) == vm && m.Pointer(thread+m.threadRactor) == ractor && m.OK()
}

// each calls do for the structures of a list, whose node is at offset in each.
func (m *memory) each(head, offset uint64, do func(at uint64)) {
	for node := m.Pointer(head); node != head && node != 0 && m.step(); node = m.Pointer(node) {
		do(node - offset)
	}
}

// threads finds the threads of all Ractors, and adds the ones that are tasks.
func (l *tasks) threads() {
	m := l.m
	l.roots = map[uint64]bool{}
	main := m.Pointer(l.vm + m.vmMainRactor)
	m.each(l.vm+m.vmRactors, m.ractorNext, func(ractor uint64) {
		m.each(ractor+m.ractorThreads, m.threadNext, func(thread uint64) {
			ec := m.Pointer(thread + m.threadContext)
			l.current = append(l.current, ec)
			l.roots[m.Pointer(thread+m.threadRootFiber)] = true
			parked := m.threadNative != absent && m.Pointer(thread+m.threadNative) == 0
			if ractor == main && !parked {
				return
			}
			t := language.Task{ID: thread, Kind: "thread", State: m.state(thread)}
			t.Name, _ = m.text(m.Pointer(thread + m.threadName))
			if ractor != main {
				t.Kind, t.Number = "Ractor", m.Uint(ractor+m.ractorNumber, 4)
				if name, ok := m.text(m.Pointer(ractor + m.ractorName)); ok && name != "" {
					t.Name = name
				}
			}
			if !parked {
				t.Thread = m.taskThread(thread)
			}
			l.add(t, ec)
		})
	})
}

// taskThread returns the system's ID of a thread.
func (m *memory) taskThread(thread uint64) int {
	id, tid := m.system(thread)
	if known := m.r.ids.of(id); known != 0 {
		return known
	}
	return tid
}

// add adds a task with the frames of a context.
func (l *tasks) add(t language.Task, ec uint64) {
	if len(l.list) == mostTasks {
		l.m.Fail("there are more than %d tasks", mostTasks)
		return
	}
	c := chain{m: l.m}
	l.m.quietly(func() {
		if err := c.read(ec); err != nil {
			t.Early = err.Error()
		}
	})
	for i := range c.frames {
		t.Frames = append(t.Frames, c.frames[i].Frame)
	}
	l.list = append(l.list, t)
}

// build finds out how large the buffer of a jump is in this build: setjmp's own, or the compiler's.
// The fiber of each thread is resumed.
func (l *tasks) build() {
	m := l.m
	larger := uint64(160) // bytes
	for _, moved := range []uint64{0, larger, -larger} {
		fits := len(l.current) > 0
		for _, ec := range l.current {
			m.quietly(func() {
				fiber := m.Pointer(ec + m.contextFiber)
				l.moved = moved
				prev := m.Pointer(fiber + m.fiberPrev + moved)
				fits = fits && l.status(fiber) == m.statusResumed && (prev == 0 || m.isFiber(prev)) && m.OK()
			})
		}
		if l.states = fits; fits {
			return
		}
	}
}

func (l *tasks) status(fiber uint64) uint64 {
	return l.m.Uint(fiber+l.m.fiberStatusByte+l.moved, 1) >> l.m.fiberStatusBit & 3
}

// isFiber reports whether a structure is a fiber: its context leads back to it.
func (m *memory) isFiber(at uint64) bool {
	return isObject(at) && m.Pointer(at+m.fiberContext+m.contextFiber) == at && m.OK()
}

// fibers adds the fibers.
func (l *tasks) fibers() error {
	m := l.m
	first := len(l.list)
	if m.fiberListNext == absent || !m.atLeast(3, 3) { // 3.2 has the list with a compiler alone
		l.heapFibers()
	} else {
		variable := m.r.find(m, &m.r.fibers, m.isFiberList)
		if variable == 0 {
			return errors.New("the list of fibers was not found")
		}
		for at := m.Pointer(variable); at != 0 && m.step(); at = m.Pointer(at + m.fiberListNext) {
			l.fiber(m.Pointer(at+m.fiberListContext) - m.fiberContext)
		}
		slices.Reverse(l.list[first:]) // the last one is the first in the list
	}
	return nil
}

// isFiberList reports whether a variable leads to the list of all contexts that are not threads'
// own: the first has nothing before it, the second the first, and their contexts are fibers'.
func (m *memory) isFiberList(at uint64) bool {
	const prev = 8
	before := uint64(0)
	node := m.Pointer(at)
	if !isObject(node) {
		return false
	}
	for range 2 {
		ec := m.Pointer(node + m.fiberListContext)
		if m.Pointer(node+prev) != before || !m.isFiber(ec-m.fiberContext) {
			return false
		}
		if before, node = node, m.Pointer(node+m.fiberListNext); node == 0 {
			break
		}
	}
	return m.OK()
}

// fiber adds a fiber.
func (l *tasks) fiber(fiber uint64) {
	m := l.m
	ec := fiber + m.fiberContext
	m.quietly(func() {
		if l.seen[fiber] || !m.isFiber(fiber) || m.Pointer(ec+m.contextStack) == 0 {
			return // it has not begun, or has ended
		}
		l.seen[fiber] = true
		thread := m.Pointer(ec + m.contextThread)
		runs := m.Pointer(thread+m.threadContext) == ec
		if runs && l.roots[fiber] {
			return
		}
		t := language.Task{ID: m.fiberID(fiber), Kind: "fiber", Thread: m.taskThread(thread)}
		if l.states {
			switch l.status(fiber) {
			case m.statusResumed:
				t.State = "resumed"
			case m.statusSuspended:
				t.State = "suspended"
			}
			if m.Pointer(fiber+m.fiberResuming+l.moved) != 0 {
				t.State = "resuming"
			}
			if prev := m.Pointer(fiber + m.fiberPrev + l.moved); prev != 0 {
				t.AwaitedBy = []uint64{m.fiberID(prev)}
			}
		}
		if m.OK() {
			l.add(t, ec)
		}
	})
}

// fiberID returns the address of a fiber's object. The one in which a thread begins may have none.
func (m *memory) fiberID(fiber uint64) uint64 {
	if object := m.Pointer(fiber + m.fiberObject); isObject(object) {
		return object
	}
	return fiber
}

// Bounds on the heap of objects.
const (
	mostObjects = 1 << 23
	mostPages   = 1 << 20
	mostSlots   = 1 << 12
	mostSlot    = 1 << 10 // bytes
)

// heap returns the address of the heap of objects, 0 if it was not found. Patch releases have added
// fields before the one that leads to it.
func (l *tasks) heap() (heap uint64) {
	m := l.m
	const most = 4 // fields
	for n := -most; n <= most && heap == 0; n++ {
		m.quietly(func() {
			at := m.Pointer(l.vm + m.vmHeap + uint64(8*n))
			count := m.Pointer(at + m.heapCount)
			if _, _, slots := m.page(m.Pointer(at+m.heapPages), 0); count > 0 && count <= mostPages && slots > 0 {
				heap = at
			}
		})
	}
	return heap
}

// page returns where the objects of a page of the heap begin, how large each is, and how many there
// are; 0 if it is no page.
func (m *memory) page(pages, i uint64) (at, size, slots uint64) {
	const object = 40 // bytes
	page := m.Pointer(pages + 8*i)
	at, size, slots = m.Pointer(page+m.pageStart), m.Uint(page+m.pageSize, 2), m.Uint(page+m.pageCount, 2)
	if !m.OK() || !isObject(at) || size%object != 0 || size == 0 || size > mostSlot || slots > mostSlots {
		slots = 0
	}
	return at, size, slots
}

// heapFibers adds the fibers by their objects: up to 3.2 nothing else leads to all of them, so all
// objects are looked through.
func (l *tasks) heapFibers() {
	m := l.m
	heap := l.heap()
	if heap == 0 {
		m.Fail("the heap was not found")
		return
	}
	pages, n := m.Pointer(heap+m.heapPages), m.Pointer(heap+m.heapCount)
	isFiber, objects := map[uint64]bool{}, uint64(0) // by type
	for i := range min(n, mostPages) {
		at, size, slots := m.page(pages, i)
		if slots == 0 {
			m.Fail("the page %d of the heap makes no sense", i)
			return
		}
		if objects += slots; objects > mostObjects {
			m.Fail("there are more than %d objects", mostObjects)
			return
		}
		for ; slots > 0; slots, at = slots-1, at+size {
			if m.Pointer(at)&typeMask != m.typeData {
				continue
			}
			kind := m.Pointer(at + m.dataType)
			is, known := isFiber[kind]
			if !known {
				m.quietly(func() { is = isObject(kind) && m.CString(m.Pointer(kind)) == "fiber" })
				if len(isFiber) < mostTasks {
					isFiber[kind] = is
				}
			}
			if is {
				l.fiber(m.Pointer(at + m.dataData))
			}
		}
	}
	for _, ec := range l.current { // the fiber in which a thread began may have no object
		thread := m.Pointer(ec + m.contextThread)
		l.fiber(m.Pointer(thread + m.threadRootFiber))
	}
}
