package target

import (
	"errors"
	"fmt"
	"io"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
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
	// Registers fills in the registers that the target knows. The error says why this thread has
	// none; the target's other threads may have some.
	Registers(*arch.Registers) error
}

// Memory is a target's address space.
type Memory interface {
	// ReadMemory reads len(p) bytes at addr. It returns how many of them, from the
	// first on, could be read, and an error if that is not all.
	ReadMemory(addr uint64, p []byte) (n int, err error)
}

// CopiedMemory is a Memory that holds copies, and lends them: a walker reads their words without
// a call for each.
type CopiedMemory interface {
	Memory
	// Window returns the copy that holds addr, or a part of it around addr: data begins at address
	// lo. The caller must not change data, and it does not change. Window returns no data if no
	// copy holds addr.
	Window(addr uint64) (lo uint64, data []byte)
}

// RunningMemory is the Memory of a process that may run on while the memory is read.
type RunningMemory interface {
	Memory
	// MovedOn reports whether any of the n bytes (1 or more) that have just been read at
	// addr is of another moment than the registers of the thread whose stack is walked.
	MovedOn(addr uint64, n int) bool
}

// RunningThread is a Thread of a process that may run on while the thread's stack is walked. The
// thread can be read once more.
type RunningThread interface {
	Thread
	// Memory returns the memory in which to walk the thread's stack. It is of the moment of the
	// registers as far as possible, and it is a [RunningMemory].
	Memory() Memory
	// MovedOn reports whether Memory has given something of another moment than the registers.
	MovedOn() bool
	// Retake stops the thread and reads it once more. Registers and Memory are of the new moment
	// then. Retake calls walk once, while the thread is held, if it may be held for that long: what
	// walk reads of Memory is of the moment of the registers. If Retake returns an error, it has
	// not called walk, and the thread is as it was.
	Retake(walk func()) error
}

// MaskedThread is a Thread of which the target knows which signals it blocks.
type MaskedThread interface {
	Thread
	// SignalMask returns the signals that the thread blocks: signal 1 in bit 0. unknown are signals
	// of which the target does not know it: all, if it knows of none.
	SignalMask() (blocked, unknown uint64)
}

// MemoryOf returns the memory in which to walk a thread's stack. That is the thread's own, if it is
// a [RunningThread] or has a method StackMemory, else the target's. It is [NoMemory] if the target
// has none.
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

// NoMemory is memory without a readable byte. Functions of this module that take a Memory
// accept nil for it.
var NoMemory Memory = noMemory{}

type noMemory struct{}

// ReadMemory implements [Memory].
func (noMemory) ReadMemory(addr uint64, p []byte) (int, error) {
	return 0, fmt.Errorf("memory at %#x: %w: there is none", addr, ErrUnmapped)
}

// ErrNoUserContext says that a thread never runs user code: the kernel runs it for the process.
// Errors of Registers wrap it.
var ErrNoUserContext = errors.New("thread never runs user code")

// ErrUnmapped says that an address cannot be read. Errors of ReadMemory wrap it.
var ErrUnmapped = elf.ErrUnmapped
