package java

import (
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/language"
)

// monitors are the monitors that were inflated, as they were seen last. Each new one becomes the
// first of the virtual machine's list, so that the others need not be read again.
type monitors struct {
	mu   sync.Mutex
	list []uint64 // the newest last
}

// mostMonitors bounds the monitors that are looked through for what a thread holds. A thread that
// waits for a monitor leads to the monitor itself.
const mostMonitors = 512

const (
	monitorKind = "monitor"
	anonymous   = 1 // the owner of a monitor that has not told who it is
)

// waits returns what a thread waits for.
func (x *threads) waits(r *reading, at, object uint64, status threadStatus) (list []language.Lock) {
	if m, _ := r.word(at, "JavaThread::_current_pending_monitor", "Thread::_current_pending_monitor"); m != 0 {
		if l, ok := r.monitor(m); ok {
			l.Owner = x.owner(r, m, l.Address)
			list = append(list, l)
		}
	}
	// Object.wait has let go of the monitor: who has it now is not who must call notify.
	if m, _ := r.word(at, "JavaThread::_current_waiting_monitor", "Thread::_current_waiting_monitor"); m != 0 && len(list) == 0 {
		if l, ok := r.monitor(m); ok {
			if of, is := x.initialization(r, l.Address, status); is {
				l = of
			} else {
				l.Kind, l.Timed = "notification", status&limited != 0
			}
			list = append(list, l)
		}
	}
	if status != unknownStatus && status&parked != 0 {
		if blocker := r.threadField(object, "parkBlocker"); blocker != 0 {
			if l, ok := r.blocker(blocker); ok {
				l.Timed = status&limited != 0
				list = append(list, l)
			}
		}
	}
	return list
}

// monitor returns the object that a monitor is of.
func (r *reading) monitor(m uint64) (l language.Lock, ok bool) {
	var object uint64
	if _, handles := r.tables.Fields["ObjectSynchronizer::_in_use_list"]; handles { // JDK 16 on
		object = r.handle(m, "ObjectMonitor::_object")
	} else {
		object, _ = r.word(m, "ObjectMonitor::_object")
	}
	return r.lockOf(monitorKind, object)
}

func (r *reading) lockOf(kind string, object uint64) (l language.Lock, ok bool) {
	name := r.spoken(object)
	return language.Lock{Kind: kind, Name: "<" + name + ">", Address: object}, name != ""
}

// blocker returns the object for which a thread is parked.
func (r *reading) blocker(object uint64) (language.Lock, bool) {
	l, ok := r.lockOf("", object)
	// The synchronizer is most often a class within the lock's own: ReentrantLock$NonfairSync.
	name := strings.Trim(l.Name, "<>")
	name = name[strings.LastIndexByte(name, '.')+1:]
	l.Kind, _, _ = strings.Cut(name, "$")
	if strings.HasSuffix(name, "$ConditionObject") {
		l.Kind = "condition"
	}
	class := r.derived(r.classOf(object), "java/util/concurrent/locks/AbstractOwnableSynchronizer")
	if f, has := r.place(class, "exclusiveOwnerThread"); class != 0 && has {
		owner := r.reference(object + f.offset)
		if at, has := r.threadPart(owner, "eetop"); has {
			record, _ := r.Word(at)
			l.Owner = r.native(record)
		}
	}
	return l, ok
}

// owner returns the ID of the thread that owns a monitor.
func (x *threads) owner(r *reading, m, object uint64) int {
	who, _ := r.word(m, "ObjectMonitor::_owner")
	if who == anonymous {
		// The owner locked it when it was no monitor yet, and has not told it who it is.
		if who, _ = r.word(m, "ObjectMonitor::_stack_locker"); who == 0 {
			return x.lockStackOwner(r, object)
		}
	}
	if who == 0 {
		return 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if at, ok := x.owners[who]; ok && r.is(javaThread{at: at}, who) {
		return r.native(at) // many may wait for one
	}
	for _, th := range x.list {
		if r.is(th, who) {
			if x.owners == nil || len(x.owners) > mostThreads {
				x.owners = map[uint64]uint64{}
			}
			x.owners[who] = th.at
			return r.native(th.at)
		}
	}
	return 0
}

// is reports whether a thread is who owns a monitor. Monitors name their owner by its record, by an
// address on its stack, or, from JDK 24 on, by a number.
func (r *reading) is(th javaThread, who uint64) bool {
	if _, byID := r.tables.Fields["JavaThread::_monitor_owner_id"]; byID {
		if id, ok := r.word(th.at, "JavaThread::_monitor_owner_id"); ok && id == who {
			return true
		}
	}
	return who == th.at || who-th.limit < th.base-th.limit
}

// lockStackOwner returns the thread that has locked an object without a monitor.
func (x *threads) lockStackOwner(r *reading, object uint64) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, th := range x.list {
		for _, o := range r.lockStack(th.at) {
			if o == object {
				return r.native(th.at)
			}
		}
	}
	return 0
}

// mostLockStack bounds the objects that a thread locks without monitors: there are 8.
const mostLockStack = 16

// lockStack returns the objects that a thread has locked without monitors, the outermost first.
func (r *reading) lockStack(at uint64) (list []uint64) {
	f, ok := r.tables.Fields["JavaThread::_lock_stack"]
	base, is := r.tables.Fields["LockStack::_base[0]"]
	if !ok || !is {
		return nil
	}
	top, _ := r.small(at + f.Offset + r.tables.Fields["LockStack::_top"].Offset) // bytes from the thread on
	for o := f.Offset + base.Offset; o+8 <= top && len(list) < mostLockStack; o += 8 {
		object, ok := r.Word(at + o)
		if !ok {
			break
		}
		if n := len(list); object != 0 && (n == 0 || list[n-1] != object) {
			list = append(list, object) // one that is locked again stands there again
		}
	}
	return list
}

// holds returns the monitors that a thread has entered, and in which of its frames.
func (x *threads) holds(r *reading, s *language.Stack, th javaThread, has entered) (list []language.Lock) {
	seen := map[uint64]bool{}
	add := func(l language.Lock, ok bool) {
		if ok && !seen[l.Address] {
			seen[l.Address] = true
			l.Level = has.level(l.Address)
			l.Owner = r.native(th.at)
			list = append(list, l)
		}
	}
	for _, object := range r.lockStack(th.at) {
		add(r.lockOf(monitorKind, object))
	}
	for _, m := range x.inUse(r) {
		who, _ := r.word(m, "ObjectMonitor::_owner")
		if who == anonymous {
			who, _ = r.word(m, "ObjectMonitor::_stack_locker")
		}
		if who != 0 && r.is(th, who) {
			add(r.monitor(m))
		}
	}
	if r.stackLocks {
		for _, object := range r.stackLocked(s, th, has) {
			add(r.lockOf(monitorKind, object))
		}
	}
	return list
}

// inUse returns the monitors that are inflated.
func (x *threads) inUse(r *reading) []uint64 {
	f, ok := r.tables.Fields["ObjectSynchronizer::_in_use_list"]
	if !ok {
		return nil
	}
	head, _ := r.word(f.Offset, "MonitorList::_head")
	x.monitors.mu.Lock()
	defer x.monitors.mu.Unlock()
	known := x.monitors.list
	if n := len(known); n > 0 && known[n-1] == head {
		return known
	}
	var list []uint64
	for m := head; m != 0 && len(list) < mostMonitors; {
		list = append(list, m)
		m, _ = r.word(m, "ObjectMonitor::_next_om")
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	x.monitors.list = list
	return list
}
