package live

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Look looks at a thread of a process. ok is false if the thread has ended.
func (w *Watch) Look(pid, tid int) (s Seen, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// "TID (NAME) STATE …" (proc_pid_stat(5)); a name may have any characters.
	text := w.read(pid, tid, statFile)
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if begin < 0 || end < begin || end+2 >= len(text) {
		return s, false
	}
	s.Name, s.State = w.named(tid, text[begin+1:end]), text[end+2]
	const fieldsBetween = 19 // STATE is the third field, and the time of the beginning the 22nd
	rest := text[end+2:]
	for range fieldsBetween {
		_, rest, _ = bytes.Cut(rest, []byte{' '})
	}
	rest, _, _ = bytes.Cut(rest, []byte{' '})
	s.Begun, _ = strconv.ParseUint(string(rest), 10, 64)
	s.Turns = turnsIn(w.read(pid, tid, schedstatFile))
	return s, true
}

// turns returns how often a thread has got a processor; 0 if that is not known.
func (w *Watch) turns(pid, tid int) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return turnsIn(w.read(pid, tid, schedstatFile))
}

// turnsIn returns the turns that a thread's schedstat tells
// (Documentation/scheduler/sched-stats.rst): time on a processor, time waiting for one, turns.
func turnsIn(text []byte) uint64 {
	f := bytes.Fields(text)
	if len(f) != 3 {
		return 0
	}
	turns, _ := strconv.ParseUint(string(f[2]), 10, 64)
	return turns
}

// blocked returns SP and PC of a thread that sleeps in a system call; ok is false if it does not.
func (w *Watch) blocked(pid, tid int) (sp, pc uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.read(pid, tid, syscallFile)
	if bytes.HasPrefix(text, []byte("-1 ")) { // in no system call: it waits for memory
		return 0, 0, false
	}
	return blockedIn(text)
}

// read reads a file of a thread into w.text. It returns nothing if the thread has ended.
func (w *Watch) read(pid, tid int, file threadFile) []byte {
	kept := w.files[tid]
	if kept != nil {
		if kept[file] < 0 {
			kept[file] = openTask(pid, tid, file)
		}
		if n, err := unix.Pread(kept[file], w.text[:], 0); err == nil && n > 0 {
			return w.text[:n]
		}
		w.drop(tid) // the thread has ended; another one may have its ID
	}
	fd := openTask(pid, tid, file)
	if fd < 0 {
		return nil
	}
	n, _ := unix.Pread(fd, w.text[:], 0)
	if n <= 0 || len(w.files) >= w.Most {
		unix.Close(fd)
		return w.text[:max(n, 0)]
	}
	kept = &threadFiles{-1, -1, -1}
	kept[file] = fd
	if w.files == nil {
		w.files = map[int]*threadFiles{}
	}
	w.files[tid] = kept
	return w.text[:n]
}

// openTask opens a file of a thread. It returns -1 if there is none.
func openTask(pid, tid int, file threadFile) int {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/"+taskFile(tid, threadFileNames[file]), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
}

// drop closes the files of a thread.
func (w *Watch) drop(tid int) {
	kept := w.files[tid]
	if kept == nil {
		return
	}
	for _, fd := range kept {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	delete(w.files, tid)
}

// Forget closes the files of a thread, which has ended or is not looked at any more.
func (w *Watch) Forget(tid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(tid)
	delete(w.pages, tid)
	delete(w.names, tid)
}

// Close closes all files. The Watch may be used again.
func (w *Watch) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for tid := range w.files {
		w.drop(tid)
	}
}

// Tasks returns the IDs of the threads of a process, in no order; none if it has ended.
func Tasks(pid int) (tids []int) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if tid, err := strconv.Atoi(name); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}
