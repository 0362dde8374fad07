package live

import (
	"bytes"
	"sync"
)

// there reports whether a thread is blocked where it was when its view was made, or is so again. It
// implements memory.there. The kernel tells of no other thread where it is.
func (f *files) there(v *view) bool {
	if f.closed.Load() || f.exited() {
		return false
	}
	_, sp, pc, ok := f.proc.blocked(v.tid)
	return ok && sp == v.sp && (pc == v.pc || pc == v.pc+f.proc.arch.SyscallRewind)
}

// same reports whether the used part of a thread's stack is unchanged: a thread that is blocked
// where it was may have run in between. The used part is then of this moment, too. Memory further
// outward may not be the thread's, because goroutines have small stacks, close together. It
// implements memory.same.
func (f *files) same(v *view) bool {
	first := v.first.Load()
	if first == nil {
		return false
	}
	used := max(v.used.Load(), first.lo+pageSize) - first.lo
	was := first.data[:min(used, uint64(len(first.data)))]
	room := stackRooms.Get().(*[firstCopy]byte)
	defer stackRooms.Put(room)
	for at := first.lo; len(was) > 0; {
		part := was[:min(len(was), len(room))]
		if n, _ := f.fetch(at, room[:len(part)]); !bytes.Equal(room[:n], part) {
			return false
		}
		was, at = was[len(part):], at+uint64(len(part))
	}
	return true
}

// stackRooms are for stacks that are compared: most threads of a process have one.
var stackRooms = sync.Pool{New: func() any { return new([firstCopy]byte) }}

// turns implements memory.turns.
func (p *proc) turns(tid int) uint64 { return p.watch.turns(p.pid, tid) }
