package descriptors

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Holders returns the processes that hold a lock of a file for which the process waits: by
// flock(2), or by fcntl(2) if records is true. The result is nil if that is not known.
func (r *Reader) Holders(tid, fd int, records bool) []Relative {
	dev, inode, ok := r.identity(tid, fd)
	if !ok {
		return nil
	}
	text, _ := readSome("/proc/locks", 4<<20)
	var list []Relative
	for _, pid := range holders(text, r.pid, dev, inode, records) {
		h := Relative{PID: pid, Name: comm(pid), Own: pid == r.pid}
		if !h.Own && !records && !hasOpen(pid, dev, inode) { // the lock is the open file's, which others may have
			h.Name, h.Ended = "", true
		}
		list = append(list, h)
	}
	return list
}

// hasOpen reports whether a process has a file open, which is also so if that is not known. One
// with the same ID that has come later has not.
func hasOpen(pid int, dev, inode uint64) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd/"
	if _, err := os.Stat(dir); err != nil {
		return !os.IsNotExist(err)
	}
	list := names(dir, mostLinks)
	for _, name := range list {
		if d, i, ok := (place{noFolder, dir + name}).identity(); ok && d == dev && i == inode {
			return true
		}
	}
	return len(list) == 0 || len(list) == mostLinks
}

// identity returns device, as major number in the upper and minor in the lower half, and inode of
// what a descriptor leads to.
func (r *Reader) identity(tid, fd int) (dev, inode uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.descriptor(tid, fd).identity()
}

// holders reads /proc/locks (proc_locks(5)): "1: FLOCK  ADVISORY  WRITE 123 fe:01:456 0 EOF" for
// who holds a lock, and below it "1: -> FLOCK  ADVISORY  WRITE 124 …" for each that waits for it.
func holders(text []byte, pid int, dev, inode uint64, records bool) (list []int) {
	holder := 0
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		waits := len(f) > 1 && string(f[1]) == "->"
		if waits {
			f = append(f[:1:1], f[2:]...)
		}
		if len(f) < 6 {
			continue
		}
		var major, minor, ino uint64
		if n, _ := fmt.Sscanf(string(f[5]), "%x:%x:%d", &major, &minor, &ino); n != 3 {
			continue
		}
		owner, err := strconv.Atoi(string(f[4]))
		same := ino == inode && major<<32|minor == dev && (string(f[1]) != "FLOCK") == records
		switch {
		case err != nil || !same:
			if !waits {
				holder = 0
			}
		case !waits:
			holder = owner
		case owner == pid && holder > 0: // -1 is nobody's: an open file's own
			list = append(list, holder)
		}
	}
	return list
}
