// Package threadlocal finds the storage that a thread has for a module's thread-local variables.
//
// What enters: a module, the address that the thread's storage is found by (its thread pointer),
// and the memory of the process, live or dead. Debug information is not needed. What leaves: where
// the module's storage begins. The ThreadLocal of its image has the offset of a variable in it.
//
// glibc and musl are asked for the storage of any module. The program's own is found whatever the C
// library is, for the ABI says where it lies. Nothing that is read is trusted: lists are bounded.
package threadlocal

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Error says why a thread has no storage that could be found. The text begins as GDB's does.
type Error struct{ Why string }

func (e Error) Error() string { return "Cannot find thread-local storage: " + e.Why }

// MemoryError says that memory of the C library cannot be read.
type MemoryError struct{ Addr uint64 }

func (e MemoryError) Error() string { return fmt.Sprintf("memory at %#x cannot be read", e.Addr) }

// Finder finds the storage of the threads of one process. It keeps what it has learned of the C
// library, and where the dynamic linker describes the modules. It is safe for concurrent use.
type Finder struct {
	arch    *arch.Arch
	memory  target.Memory
	modules *target.Modules

	mu     sync.Mutex       // for what follows
	looked bool             // for the C library
	likely []*target.Module // all modules, the ones first that are likely the C library
	glibc  *glibc           // nil for none
	musl   bool
	maps   map[*target.Module]uint64 // addresses of the dynamic linker's descriptions
}

// New returns a Finder of a process. Memory that a caller's own memory does not have is read from
// m.
func New(a *arch.Arch, m target.Memory, modules *target.Modules) *Finder {
	return &Finder{arch: a, memory: m, modules: modules, maps: map[*target.Module]uint64{}}
}

// look is one look for storage.
type look struct {
	*Finder
	mem target.Memory // of the thread
}

// Storage returns the address of the storage for a module's variables that the thread with the
// thread pointer tp has. mem is the memory of the thread's moment. The error is an [Error] or a
// [MemoryError].
func (f *Finder) Storage(mem target.Memory, m *target.Module, tp uint64) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := look{f, mem}
	im, _, err := m.PeekImage()
	if err != nil {
		return 0, Error{err.Error()}
	}
	err = Error{"the C library does not tell where the storage of libraries is"}
	var base uint64
	f.library()
	switch {
	case f.glibc != nil:
		base, err = l.glibcStorage(m, tp)
	case f.musl:
		base, err = l.muslStorage(m, tp)
	}
	if block := Block(im); err != nil && block != nil && m.IsProgram() {
		base, err = f.programStorage(block, tp)
	}
	return f.arch.Wrap(base), err
}

// mostStorage bounds the size of a program's storage, bytes.
const mostStorage = 1 << 47

// programStorage returns a thread's storage for the program, which is made of block, as the ABI has
// it whatever the C library. It ends at the thread pointer (variant II of ELF's handling of
// thread-local storage), or follows the C library's own words there (variant I).
func (f *Finder) programStorage(block *elf.ProgHeader, tp uint64) (uint64, error) {
	align := max(block.Align, 1)
	if align&(align-1) != 0 || block.Memsz > mostStorage {
		return 0, Error{fmt.Sprintf("the program's has %d bytes, aligned to %d", block.Memsz, block.Align)}
	}
	if own := f.arch.ThreadBlock; own > 0 {
		return tp + own + (block.Vaddr-own)&(align-1), nil
	}
	return tp - block.Memsz - (-block.Memsz-block.Vaddr)&(align-1), nil
}

// Block returns the segment that a thread's storage for an image is made of; nil if there is none.
func Block(im *elfimage.Image) *elf.ProgHeader {
	for i := range im.Progs {
		if im.Progs[i].Type == elf.PT_TLS {
			return &im.Progs[i]
		}
	}
	return nil
}

// word reads a word of the C library's data.
func (l look) word(addr uint64) (uint64, error) {
	var b [8]byte
	p := b[:l.arch.PtrSize]
	err := l.bytes(addr, p)
	return l.arch.Word(p), err
}

// bytes fills p with the C library's data at addr.
func (l look) bytes(addr uint64, p []byte) error {
	addr = l.arch.Wrap(addr)
	for _, m := range [...]target.Memory{l.mem, l.memory} {
		if m == nil {
			continue
		}
		if n, err := m.ReadMemory(addr, p); n == len(p) && err == nil {
			return nil
		}
	}
	clear(p)
	return MemoryError{addr}
}

// notAllocated says that a thread has no storage for a module.
func notAllocated(m *target.Module) error {
	return Error{fmt.Sprintf("the thread has not used the storage of %s yet", filepath.Base(m.Path))}
}
