package live

import "sync"

// Watch looks at threads again and again, without stopping them. It keeps their files of /proc
// open, for to open a file takes the kernel longer than to read it. It is safe for concurrent use.
// The zero Watch keeps none open.
type Watch struct {
	// Most bounds the threads whose files are kept open, each of which has two.
	Most int

	mu    sync.Mutex
	files map[int]*threadFiles // by thread ID
	text  [512]byte            // for what is read: a thread's state takes some 300 bytes
}

// threadFiles are files of one thread: file descriptors, -1 for one that is not open.
type threadFiles struct{ stat, schedstat int }

// Seen is what [Watch.Look] sees of a thread.
type Seen struct {
	Name  string // as the kernel has it (comm)
	State byte   // the kernel's letter (proc_pid_stat(5))
	Begun uint64 // when the thread began, in clock ticks since the machine started
	// Turns is how often the thread has got a processor; 0 if the kernel does not tell: some are
	// built without that count.
	Turns uint64
}
