package waitfor

import "github.com/sfwalk/sfwalk/arch"

// Bits of a word that the kernel understands (futex(2), "Priority-inheritance futexes").
const (
	futexWaiters = 1 << 31
	futexOwner   = 1<<30 - 1
)

// lock is what a thread waits for, as far as it is known.
type lock struct {
	*finder
	at   arch.Futex
	word uint32
	sp   uint64
	pi   bool // the kernel hands the lock over by priority: the word has the owner

	named     bool // by the functions in which the thread is
	kind      Kind
	reads     bool
	ownerless bool
	parked    bool // parking_lot: the word is the thread's own
}

// fill fills in w.
func (l *lock) fill(w *Wait) {
	w.Shared = !l.at.Private
	switch {
	case l.ownerless:
		w.Kind, w.Reads, w.Ownerless = l.kind, l.reads, true
		if l.parked {
			w.Object = 0
		}
	case l.named && l.kind == End, !l.named && !l.pi:
		if l.end(w) || !l.named && (l.mutex(w) || l.file(w)) {
			return
		}
		w.Kind = l.kind
	case l.refused():
		w.Kind, w.Object, w.Refused = Mutex, 0, true
	case l.pi || l.kind == Mutex || l.kind == Condition:
		// A thread that wakes up at a condition waits for its mutex.
		if !l.mutex(w) {
			w.Kind = l.kind
			w.Ownerless = l.kind != Mutex
		}
	case l.kind == RWLock:
		w.Kind, w.Reads = RWLock, l.reads
		l.rwlock(w)
	case l.kind == File:
		if !l.file(w) && !l.mutex(w) {
			w.Kind = Unknown // the allocator's lock, for example
		}
	default:
		w.Kind, w.Ownerless = l.kind, true
	}
}

// refused recognizes how glibc has a thread wait for ever in pthread_mutex_lock
// (pthread_mutex_lock.c, "Delay the thread indefinitely"): for a zero on its own stack.
func (l *lock) refused() bool {
	return l.kind == Mutex && l.word == 0 && !l.pi && l.at.Word-l.sp < nearSP
}

// nearSP bounds the distance of a variable of the inner functions from the stack pointer, bytes.
const nearSP = 1 << 10

// owner fills in the owner, by the ID that the process has for it.
func (l *lock) owner(w *Wait, own uint32) {
	if w.Owner = l.thread(own); w.Owner == 0 && own != 0 && own <= maxThread {
		w.Gone = int(own)
	}
}

// end recognizes the end of another thread: the word is in that thread's own storage. glibc's has
// the thread's ID until the kernel clears it and wakes up who waits (set_tid_address(2)), for which
// the call is not private; musl's, behind the thread pointer, has a state.
func (l *lock) end(w *Wait) bool {
	const near, nearMusl = 4096, 512 // struct pthread lies before or behind the thread pointer
	id := l.thread(l.word)
	for p, other := range l.pointers {
		d := int64(l.at.Word - p)
		if other == w.Thread || d <= -near || d >= near {
			continue
		}
		if other == id || l.named && id == 0 && l.word == muslJoinable && d >= 0 && d < nearMusl {
			w.Kind, w.Owner = End, other
			return true
		}
	}
	if id != 0 && !l.at.Private && id != w.Thread && (l.named || len(l.pointers) == 0) {
		w.Kind, w.Owner = End, id
		return true
	}
	return false
}

// muslJoinable is the state of a thread that has not ended (DT_JOINABLE in musl's
// src/internal/pthread_impl.h).
const muslJoinable = 2

// Offsets in glibc's pthread_mutex_t (struct __pthread_mutex_s, bits/struct_mutex.h), and bits of
// its kind (nptl/pthreadP.h).
const (
	glibcOwner  = 8
	kindRobust  = 16
	kindInherit = 32
	kindProtect = 64
	kindShared  = 128
	maxKind     = 1024
)

// glibcKind returns where the kind is, and where the number of users.
func (l *lock) glibcKind() (kind, users uint64) {
	if l.arch.PtrSize == 4 {
		return 12, 16
	}
	return 16, 12
}

// mutex recognizes a mutex of glibc, or of musl.
func (l *lock) mutex(w *Wait) bool { return l.glibcMutex(w) || l.muslMutex(w) }

// glibcMutex recognizes a mutex of glibc: the word is its first. It is 2 if somebody waits, or has
// the owner, as the kernel wants it of robust mutexes and of mutexes that hand priorities on.
// Another field always has the owner, but for a moment when the lock is taken.
func (l *lock) glibcMutex(w *Wait) bool {
	atKind, atUsers := l.glibcKind()
	own, ok := l.finder.word(l.at.Word + glibcOwner)
	kind, also := l.finder.word(l.at.Word + atKind)
	users, too := l.finder.word(l.at.Word + atUsers)
	if !ok || !also || !too || kind >= maxKind || own > maxThread {
		return false
	}
	switch {
	case l.pi && kind&kindInherit == 0:
		return false
	case kind&(kindRobust|kindInherit) != 0:
		if l.word&futexWaiters == 0 || l.word&futexOwner != own && own != 0 {
			return false
		}
		own = l.word & futexOwner
	case kind&kindProtect != 0:
		if l.word&(1<<19-1) != 2 { // the upper bits are the priority
			return false
		}
	case l.word != 2:
		return false
	}
	if l.kind != Mutex && (l.thread(own) == 0 || users == 0 || int32(users) < 0) {
		return false
	}
	w.Kind, w.Object, w.Shared = Mutex, l.at.Word, kind&kindShared != 0
	l.owner(w, own)
	return true
}

// Offsets and values in musl's pthread_mutex_t (src/internal/pthread_impl.h).
const (
	muslLock  = 4
	muslBusy  = 16 // EBUSY: a mutex of the normal type is locked, and keeps no owner
	muslTypes = 1 | 2 | 4 | 8 | 128
)

// muslMutex recognizes a mutex of musl: the word is its second, the first one is the type.
func (l *lock) muslMutex(w *Wait) bool {
	typ, ok := l.finder.word(l.at.Word - muslLock)
	if !ok || typ&^muslTypes != 0 || l.word&futexWaiters == 0 {
		return false
	}
	own := l.word & futexOwner
	switch {
	case typ&3 == 0 && own == muslBusy && l.kind == Mutex:
		w.Ownerless = true
	case typ&3 == 0 && typ&(4|8) == 0:
		return false
	case l.kind != Mutex && l.thread(own) == 0:
		return false
	default:
		l.owner(w, own)
	}
	w.Kind, w.Object, w.Shared = Mutex, l.at.Word-muslLock, typ&128 != 0
	return true
}

// Offsets in glibc's pthread_rwlock_t (struct __pthread_rwlock_arch_t, bits/struct_rwlock.h), and
// what its words say (nptl/pthread_rwlock_common.c).
const (
	rwPhase       = 8
	rwWriters     = 12
	rwReaderShift = 3 // above WRPHASE, WRLOCKED and RWAITING
	rwWritten     = 1 // it is the writers' phase
	rwWaiting     = 4
	phaseUsed     = 2     // with 0: it is the readers' phase
	writersUsed   = 1 | 2 // with 1: it is the writers' phase, or there are writers
	muslWrites    = 1<<31 - 1
)

// rwlock finds out who holds an RWLock. glibc's readers wait for the phase, or for a change of the
// number of readers; a writer waits for the phase, or for other writers.
func (l *lock) rwlock(w *Wait) {
	var offset uint64
	switch {
	case l.at.Expected == phaseUsed && !l.reads, l.at.Expected == writersUsed && l.reads:
		offset = rwPhase
	case l.at.Expected == writersUsed:
		offset = rwWriters
	case l.at.Expected&futexWaiters != 0: // musl's: its only word
		if held := l.word &^ futexWaiters; held == muslWrites {
			w.Ownerless = true
		} else {
			w.Readers = int(held)
		}
		return
	case l.at.Expected&rwWaiting == 0 || !l.reads:
		return
	}
	base := l.at.Word - offset
	readers, ok := l.finder.word(base)
	writer := uint64(24) // __cur_writer
	if l.arch.PtrSize == 4 {
		writer = 28
	}
	own, also := l.finder.word(base + writer)
	if !ok || !also || own > maxThread {
		return
	}
	w.Object = base
	if own == 0 && readers&rwWritten == 0 {
		w.Readers = int(readers >> rwReaderShift)
	}
	l.owner(w, own)
}

// file recognizes the lock of a FILE of glibc (_IO_lock_t: lock, count, owner), whose owner is a
// thread pointer.
func (l *lock) file(w *Wait) bool {
	if l.word != 2 {
		return false
	}
	p, ok := l.pointer(l.at.Word + 8)
	if id := l.pointers[p]; ok && id != 0 {
		w.Kind, w.Owner = File, id
		return true
	}
	return false
}
