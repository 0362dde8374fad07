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
