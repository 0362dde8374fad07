package live

import (
	"sync"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Watch looks at threads again and again, without stopping them. It keeps their files of /proc
// open, for to open a file takes the kernel longer than to read it. It is safe for concurrent use.
// The zero Watch keeps none open.
type Watch struct {
	// Most bounds the threads whose files are kept open, each of which has three.
	Most int

	mu    sync.Mutex
	files map[int]*threadFiles   // by thread ID
	text  [512]byte              // for what is read: a thread's state takes some 300 bytes
	names map[int]string         // of the threads, when they were looked at last
	maps  map[int]*procmaps.Last // of processes, by their IDs
	pages map[int][]uint64       // what was read of a thread outside of its stack: it is read again, most likely
}

// threadFile is a file of a thread in /proc.
type threadFile int

const (
	statFile threadFile = iota
	schedstatFile
	syscallFile
	mostThreadFiles
)

var threadFileNames = [mostThreadFiles]string{"stat", "schedstat", "syscall"}

// threadFiles are files of one thread: file descriptors, -1 for one that is not open.
type threadFiles [mostThreadFiles]int

// mostPages bounds the pages of a thread that are copied before they are asked for.
const mostPages = 64

// readBefore returns the pages outside of its stack that were read of a thread the last time,
// ascending.
func (w *Watch) readBefore(tid int) []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pages[tid]
}

// mostLasts bounds the processes whose lists of mappings are kept.
const mostLasts = 32

// takeMaps returns the reader of a process's mappings, for one caller at a time.
func (w *Watch) takeMaps(pid int) *procmaps.Last {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.maps[pid]
	if last == nil {
		return new(procmaps.Last)
	}
	delete(w.maps, pid)
	return last
}

// keepMaps keeps what takeMaps has returned.
func (w *Watch) keepMaps(pid int, last *procmaps.Last) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.maps == nil || len(w.maps) == mostLasts {
		w.maps = map[int]*procmaps.Last{}
	}
	w.maps[pid] = last
}

// name returns the name that a thread had when it was looked at last; ok is false if it was not.
func (w *Watch) name(tid int) (name string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name, ok = w.names[tid]
	return name, ok
}

// named notes the name of a thread that is looked at.
func (w *Watch) named(tid int, name []byte) string {
	if was, ok := w.names[tid]; ok && was == string(name) {
		return was
	}
	if w.names == nil {
		w.names = map[int]string{}
	}
	s := string(name)
	if _, known := w.names[tid]; known || len(w.names) < w.Most {
		w.names[tid] = s
	}
	return s
}

func (w *Watch) wasRead(tid int, pages []uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pages == nil {
		w.pages = map[int][]uint64{}
	}
	if _, known := w.pages[tid]; known || len(w.pages) < w.Most {
		w.pages[tid] = pages[:min(len(pages), mostPages)]
	}
}

// Seen is what [Watch.Look] sees of a thread.
type Seen struct {
	Name  string // as the kernel has it (comm)
	State byte   // the kernel's letter (proc_pid_stat(5))
	Begun uint64 // when the thread began, in clock ticks since the machine started
	// Turns is how often the thread has got a processor; 0 if the kernel does not tell: some are
	// built without that count.
	Turns uint64
}
