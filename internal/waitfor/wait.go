package waitfor

// Kind is what a thread waits for.
type Kind uint8

const (
	// Unknown is a futex of which nobody knows what it is for.
	Unknown Kind = iota
	Mutex
	// RWLock is a lock that readers share.
	RWLock
	// End is the end of another thread (pthread_join).
	End
	// File is the lock of a FILE of C's stdio.
	File
	Condition
	Semaphore
	Barrier
	// Once is code that another thread is about to execute for the first time: pthread_once,
	// call_once, a static variable's initializer.
	Once
)

// String returns the kind in words: "mutex".
func (k Kind) String() string {
	return [...]string{"futex", "mutex", "rwlock", "thread", "file", "condition", "semaphore", "barrier", "once"}[k]
}

// Wait is a thread that waits.
type Wait struct {
	Thread int // its ID
	Kind   Kind
	// Object is the address of the lock. It is the address of the futex where the lock's beginning
	// is not known.
	Object uint64
	Futex  uint64
	// Owner is the ID of the thread that holds the lock, or that is to end; 0 if none is known.
	Owner int
	// Gone is the owner's ID as the process has it, if no such thread is in the target: it has
	// ended, or is another process's.
	Gone int
	// Shared says that other processes may have the lock, too.
	Shared bool
	// Readers is how many threads hold an RWLock for reading. Reads says that Thread wants it for
	// reading.
	Readers int
	Reads   bool
	// Ownerless says that locks of this kind keep no owner.
	Ownerless bool
	// Refused says that the thread waits for ever, for a word of its own: the kernel has refused to
	// let it wait for a mutex that hands priorities on, as that would be a deadlock, or the owner
	// has ended. The mutex is not known.
	Refused bool
	// Timed says that the thread gives up when its time is over.
	Timed bool
}

// Cycles returns the deadlocks: threads each of which waits for what the next one holds, the last
// one for what the first one holds. Each begins with its thread of the lowest ID.
func Cycles(list []Wait) (cycles [][]Wait) {
	at := make(map[int]int, len(list)) // index by thread
	for i := range list {
		at[list[i].Thread] = i
	}
	seen := make([]int, len(list)) // the walk that has come there, from 1 on
	for i := range list {
		walk, k, ok := i+1, i, true
		for ok && seen[k] == 0 {
			seen[k] = walk
			k, ok = at[list[k].Owner]
		}
		if !ok || seen[k] != walk {
			continue
		}
		first := k
		for j := at[list[k].Owner]; j != k; j = at[list[j].Owner] {
			if list[j].Thread < list[first].Thread {
				first = j
			}
		}
		cycle := []Wait{list[first]}
		for j := at[list[first].Owner]; j != first; j = at[list[j].Owner] {
			cycle = append(cycle, list[j])
		}
		cycles = append(cycles, cycle)
	}
	return cycles
}

// Timed reports whether a deadlock ends when the time of one of its threads is over.
func Timed(cycle []Wait) bool {
	for i := range cycle {
		if cycle[i].Timed {
			return true
		}
	}
	return false
}
