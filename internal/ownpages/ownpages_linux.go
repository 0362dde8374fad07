package ownpages

import (
	"encoding/binary"
	"os"
	"reflect"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Release unmaps the program's code and tables, which stay in the kernel's cache of the file: what
// is used from now on is mapped again, by a page fault for each 64 KiB, of about a microsecond. It
// may be called at any time, beside other goroutines.
func Release() {
	for _, m := range unchanged() {
		// A failure costs memory, and nothing else.
		unix.Syscall(unix.SYS_MADVISE, uintptr(m.Lo), uintptr(m.Hi-m.Lo), unix.MADV_DONTNEED)
	}
}

// unchanged returns the mappings of the program's file that have just what the file has: no
// mappings that are written to or relocated, nor code in which a debugger has set breakpoints.
var unchanged = sync.OnceValue(func() (list []procmaps.Mapping) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		return nil
	}
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil
	}
	defer pages.Close()
	here := uint64(reflect.ValueOf(hasOwn).Pointer())
	var file procmaps.Mapping
	for _, m := range maps {
		if m.Lo <= here && here < m.Hi {
			file = m
		}
	}
	for _, m := range maps {
		if m.Inode != 0 && m.Inode == file.Inode && m.Major == file.Major && m.Minor == file.Minor && !m.Write && !hasOwn(pages, m) {
			list = append(list, m)
		}
	}
	return list
})

// hasOwn reports whether the process has pages of its own in a mapping of a file, by
// /proc/PID/pagemap (the kernel's Documentation/admin-guide/mm/pagemap.rst), or whether that cannot
// be told.
func hasOwn(pagemap *os.File, m procmaps.Mapping) bool {
	const size, present, swapped, ofFile = 8, 1 << 63, 1 << 62, 1 << 61
	page := uint64(os.Getpagesize())
	room := make([]byte, min((m.Hi-m.Lo)/page, 2048)*size)
	for at := m.Lo; at < m.Hi; {
		b := room[:min(uint64(len(room)), (m.Hi-at)/page*size)]
		if n, _ := pagemap.ReadAt(b, int64(at/page*size)); n < len(b) {
			return true
		}
		for ; len(b) > 0; b, at = b[size:], at+page {
			if e := binary.NativeEndian.Uint64(b); e&(present|swapped) != 0 && e&ofFile == 0 {
				return true
			}
		}
	}
	return false
}
