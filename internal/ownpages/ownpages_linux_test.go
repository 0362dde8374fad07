package ownpages

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Release leaves few of the program's pages mapped, and the program goes on.
func TestRelease(t *testing.T) {
	list := unchanged()
	if len(list) < 2 {
		t.Fatalf("the program's mappings are %+v", list)
	}
	for _, m := range list {
		touch(t, m)
	}
	before := mapped(t)
	Release()
	// What the test itself runs is mapped again.
	if after := mapped(t); after > before/2 {
		t.Errorf("%d pages are mapped, of %d before", after, before)
	}
}

// touch has all pages of a mapping mapped.
func touch(t *testing.T, m procmaps.Mapping) {
	room := make([]byte, m.Hi-m.Lo)
	local := []unix.Iovec{{Base: &room[0]}}
	local[0].SetLen(len(room))
	n, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(m.Lo), Len: len(room)}}, 0)
	if n < len(room) {
		t.Fatalf("%d of %d bytes: %v", n, len(room), err)
	}
}

// mapped returns how many pages of files are mapped, by the kernel's count.
func mapped(t *testing.T) (pages int) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident, &pages); err != nil {
		t.Fatal(err)
	}
	return pages
}

// A mapping that was written to has pages of its own, which must not be lost: a program's relocations are such, and a
// debugger's breakpoints.
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
