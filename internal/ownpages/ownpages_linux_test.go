package ownpages

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Release unmaps the program's pages, and the program goes on: to read its mappings once more takes
// at least a page fault for each of them, and none without Release. How much is mapped again by a
// fault is the kernel's choice: 64 KiB, or as much as lies in one piece of its cache. Other threads
// have faults too, for new memory, so one of ten rounds is enough.
func TestRelease(t *testing.T) {
	list := unchanged()
	if len(list) < 2 {
		t.Fatalf("the program's mappings are %+v", list)
	}
	var room []byte
	for _, m := range list {
		room = make([]byte, max(len(room), int(m.Hi-m.Lo)))
	}
	var without, with int64
	for range 10 {
		touch(t, list, room)
		start := faults(t)
		touch(t, list, room)
		without = faults(t) - start
		start = faults(t)
		Release()
		touch(t, list, room)
		with = faults(t) - start
		if with >= without+int64(len(list)) {
			return
		}
	}
	t.Errorf("%d page faults after Release, %d without, in %d mappings", with, without, len(list))
}

// touch has all pages of the mappings mapped, and copies them to room.
func touch(t *testing.T, list []procmaps.Mapping, room []byte) {
	for _, m := range list {
		local := []unix.Iovec{{Base: &room[0]}}
		local[0].SetLen(int(m.Hi - m.Lo))
		n, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(m.Lo), Len: int(m.Hi - m.Lo)}}, 0)
		if n < int(m.Hi-m.Lo) {
			t.Fatalf("%d of %d bytes: %v", n, m.Hi-m.Lo, err)
		}
	}
}

// faults returns how many page faults the process has had that took nothing from a disk.
func faults(t *testing.T) int64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return int64(usage.Minflt)
}

// A mapping that was written to has pages of its own, which must not be lost: a program's
// relocations are such, and a debugger's breakpoints.
func TestOwnPages(t *testing.T) {
	page := os.Getpagesize()
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, make([]byte, 4*page), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, 4*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data)
	pagemap, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Fatal(err)
	}
	defer pagemap.Close()
	at := uint64(uintptr(unsafe.Pointer(&data[0])))
	m := procmaps.Mapping{Lo: at, Hi: at + uint64(len(data))}
	if sum := data[0] + data[3*page]; sum != 0 || hasOwn(pagemap, m) {
		t.Errorf("a page that was read is the process's own")
	}
	data[2*page] = 1
	if !hasOwn(pagemap, m) {
		t.Errorf("a page that was written to is the file's")
	}
}
