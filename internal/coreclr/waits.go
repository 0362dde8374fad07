package coreclr

import "github.com/sfwalk/sfwalk/target"

// A thread that waits for a monitor has notes of that on its stack, for debuggers
// (DebugBlockingItem): the monitor's address, the AppDomain, what it waits for, and how long. The
// thread's record leads to them.
const (
	recordSize = 2 << 10 // bytes of a thread's record in which that is looked for
	toOwn      = 0       // it waits to own the monitor
	toBeCalled = 1       // it has owned the monitor, and waits to be called (Monitor.Wait)
	forever    = 1<<32 - 1

	// A monitor (AwareLock) has its owner, and its number in the table of objects' SyncBlocks.
	monitorOwner  = 16
	monitorNumber = 28
	numberMask    = 1<<26 - 1
	entrySize     = 16 // of the table: the SyncBlock, and the object
)

// Wait is what a thread waits for.
type Wait struct {
	Object uint64 // the object whose monitor it is
	Owner  uint32 // the system's ID of the thread that owns it, as the process sees it; 0 for none
	Called bool   // it waits to be called (Monitor.Wait), and not to own the monitor
	Timed  bool
}

// Wait returns what a thread waits for, if that is an object's monitor. All that is found is
// checked: the monitor is the one that the table has for its number.
func (r *Runtime) Wait(m target.Memory, t *Thread) (w Wait, ok bool) {
	table, domain := word(m, r.locks), word(m, r.domain)
	if table == 0 || domain == 0 || t.State&ThreadWaits == 0 {
		return w, false
	}
	var record [recordSize]byte
	n, _ := m.ReadMemory(t.At, record[:])
	for b := record[:n&^7]; len(b) > 0; b = b[8:] {
		note := order.Uint64(b)
		if note < t.Stack.Begin || note >= t.Stack.End || word(m, note+8) != domain {
			continue
		}
		monitor := word(m, note)
		what, _ := half(m, note+16)
		limit, _ := half(m, note+20)
		number, _ := half(m, monitor+monitorNumber)
		entry := table + entrySize*uint64(number&numberMask)
		if what > toBeCalled || number&numberMask == 0 || word(m, entry) != monitor {
			continue
		}
		w = Wait{Object: word(m, entry+8), Called: what == toBeCalled, Timed: limit != forever}
		w.Owner, _ = half(m, monitor+monitorOwner)
		return w, true
	}
	return w, false
}
