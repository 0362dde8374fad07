package target

import (
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/arch"
)

// Target is one process as a source of stacks.
type Target interface {
	Arch() *arch.Arch
	Memory() Memory
	Threads() ([]Thread, error)
	Modules() *Modules
	io.Closer
}

// Thread is one thread of a target.
type Thread interface {
	ID() int // the operating system's thread ID
	Name() string
	// Registers fills in the registers that the target knows. An error says why
	// this thread has none, though the target has others.
	Registers(*arch.Registers) error
}

// Memory is a target's address space.
type Memory interface {
	// ReadMemory reads len(p) bytes at addr. It returns how many of them, from the
	// first on, could be read, and an error if that is not all.
	ReadMemory(addr uint64, p []byte) (n int, err error)
}

// CopiedMemory is a Memory that has copies, and lends them: reading words of them
// needs no call each.
type CopiedMemory interface {
	Memory
	// Window returns the bytes that lie around addr in one copy: those from lo on,
	// which must not be changed and will not change. It returns none where addr is
	// in no copy.
	Window(addr uint64) (lo uint64, data []byte)
}

// RunningMemory is a Memory of a process that runs on while it is read.
type RunningMemory interface {
	Memory
	// MovedOn reports whether any of the n bytes (1 or more) that have just been read at
	// addr is of another moment than the registers of the thread whose stack is walked.
	MovedOn(addr uint64, n int) bool
}

// RunningThread is a Thread of a process that runs on while its stack is walked, and that can
// be read once more.
type RunningThread interface {
	Thread
	// Memory returns the memory that the thread's stack is to be walked in, which is of
	// the moment of its registers as far as it can be. It is a [RunningMemory].
	Memory() Memory
	// MovedOn reports whether something was read of Memory that is of another moment
	// than the registers.
	MovedOn() bool
	// Retake reads the thread once more: Registers are those of another moment then, and
	// Memory is another. It calls walk, once, while the thread is held, for as long as
	// that may be: what walk reads of Memory is of the moment of the registers. After an
	// error walk was not called, and the thread is as it was.
	Retake(walk func()) error
}

// MemoryOf returns the memory that a thread's stack is to be walked in: its own, which it has
// if it is a [RunningThread] or has a method StackMemory, or the target's; [NoMemory] where there is
// none.
func MemoryOf(t Target, thread Thread) Memory {
	var m Memory
	switch th := thread.(type) {
	case RunningThread:
		m = th.Memory()
	case interface{ StackMemory() Memory }:
		m = th.StackMemory()
	default:
		m = t.Memory()
	}
	if m == nil {
		return NoMemory
	}
	return m
}

// NoMemory is memory of which nothing can be read. Functions of this module that take a Memory
// take nil for it.
var NoMemory Memory = noMemory{}

type noMemory struct{}

// ReadMemory implements [Memory].
func (noMemory) ReadMemory(addr uint64, p []byte) (int, error) {
	return 0, fmt.Errorf("memory at %#x: %w: there is none", addr, ErrUnmapped)
}

// ErrUnmapped says that an address could not be read. Errors of ReadMemory wrap it.
var ErrUnmapped = errors.New("memory cannot be read")
