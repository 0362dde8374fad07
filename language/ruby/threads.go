package ruby

import (
	"strconv"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
)

// mostThreads bounds lists of threads.
const mostThreads = 1 << 16

// threadIDs are the system's IDs of threads, by pthread_self(). It is safe for concurrent use.
type threadIDs struct {
	mu   sync.Mutex
	list map[uint64]int
}

func (n *threadIDs) add(id uint64, tid int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.list == nil || len(n.list) >= mostThreads {
		n.list = map[uint64]int{}
	}
	n.list[id] = tid
}

func (n *threadIDs) of(id uint64) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list[id]
}

// about returns what Ruby knows of the thread that a context is of, beside its frames. handled is
// the exception that its frames handle, 0 for none. What cannot be read is left out: the thread may
// be changing it.
func (m *memory) about(s *language.Stack, ec, handled uint64) (t language.Thread) {
	if !m.Arch.RubyThreads {
		return t
	}
	m.quietly(func() {
		thread := m.Pointer(ec + m.contextThread)
		t.Name, _ = m.text(m.Pointer(thread + m.threadName))
		var words []string
		ractor := m.Pointer(thread + m.threadRactor)
		if ractor != m.Pointer(m.Pointer(thread+m.threadVM)+m.vmMainRactor) {
			words = append(words, m.ractor(ractor))
		}
		m.Err()
		words = append(words, m.state(thread))
		if !m.OK() {
			return
		}
		if id, ok := threadlocal.Pointer(s.Arch, s.Frames[0]); ok { // which is pthread_self()
			m.r.ids.add(id, s.Thread.ID())
		}
		owner, lock := m.Pointer(ractor+m.ractorRunning), ractor+m.ractorRunning
		switch {
		case owner == thread:
			words = append(words, "has the GVL")
			t.Holds = append(t.Holds, language.Lock{Kind: "GVL", Address: lock, Owner: s.Thread.ID(), Level: -1})
		case m.queued(ractor, thread):
			t.Waits = append(t.Waits, language.Lock{Kind: "GVL", Address: lock, Owner: m.threadOf(s, thread, owner), Level: -1})
		}
		if x, ok := m.mutex(s, thread); ok && len(t.Waits) == 0 {
			t.Waits = append(t.Waits, x)
		}
		t.State = strings.Join(words, ", ")
		if t.Exception = m.className(m.Pointer(ec + m.contextError)); t.Exception == "" {
			t.Exception = m.className(handled)
		}
	})
	return t
}

// state returns what a thread does, in the words of Thread#inspect.
func (m *memory) state(thread uint64) string {
	switch m.Uint(thread+m.threadStatusByte, 1) >> m.threadStatusBit & 3 {
	case m.statusRunnable:
		return "run"
	case m.statusStopped:
		return "sleep"
	case m.statusForever:
		return "sleep_forever"
	}
	return "dead"
}

// ractor returns what a ractor is called.
func (m *memory) ractor(ractor uint64) string {
	text := "ractor #" + strconv.FormatUint(m.Uint(ractor+m.ractorNumber, 4), 10)
	if name, ok := m.text(m.Pointer(ractor + m.ractorName)); ok && name != "" {
		text += " " + strconv.Quote(name)
	}
	return text
}

// queued reports whether a thread is among the ones that wait for their ractor's GVL.
func (m *memory) queued(ractor, thread uint64) bool {
	head := ractor + m.ractorQueue
	at := m.Pointer(head)
	for at != head && at != 0 && m.step() {
		if at == thread+m.threadQueue {
			return true
		}
		at = m.Pointer(at)
	}
	return false
}

// threadOf returns the system's ID of a thread of Ruby's, 0 if it is not known. own is the one of
// the stack: Ruby has the IDs that threads have in the process's own namespace.
func (m *memory) threadOf(s *language.Stack, own, thread uint64) int {
	if thread == 0 {
		return 0
	}
	id, tid := m.system(thread)
	if known := m.r.ids.of(id); known != 0 {
		return known
	}
	if _, mine := m.system(own); mine == s.Thread.ID() {
		return tid
	}
	return 0
}

// system returns the C library's and the system's ID of a thread.
func (m *memory) system(thread uint64) (id uint64, tid int) {
	if m.threadNative == absent {
		return m.Pointer(thread + m.threadID), int(m.Uint(thread+m.threadTID, 4))
	}
	native := m.Pointer(thread + m.threadNative)
	return m.Pointer(native + m.nativeID), int(m.Uint(native+m.nativeTID, 4))
}

// mutex returns the Mutex for which a thread waits. Its first words are the fiber that has locked
// it, and the number of the fiber and its thread from 4.0 on.
func (m *memory) mutex(s *language.Stack, thread uint64) (x language.Lock, ok bool) {
	object := m.Pointer(thread + m.threadMutex)
	if !isObject(object) || !m.OK() {
		return x, false
	}
	x = language.Lock{Kind: "Mutex", Address: object, Level: -1}
	lock := m.Pointer(object + m.dataData)
	switch first := m.Pointer(lock); {
	case first == 0:
	case m.atLeast(4, 0):
		x.Owner = m.threadOf(s, thread, m.Pointer(lock+8))
	default:
		x.Owner = m.threadOf(s, thread, m.Pointer(first+m.fiberContext+m.contextThread))
	}
	return x, m.OK()
}

// className returns the name of the class of an object that is no number, no text and the like; ""
// if it has none, or is no such object.
func (m *memory) className(v uint64) string {
	const object, class = 1, 8 // T_OBJECT; the offset of its class
	if !m.isOf(v, object) {
		return ""
	}
	of := m.Pointer(v + class)
	if flags, ok := m.is(of, m.typeClass); !ok || flags&m.flagsSingleton != 0 {
		return ""
	}
	return m.classPath(of)
}
