package target

import (
	"errors"
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

// A Lender is a Memory that has copies, and lends them: reading words of them
// needs no call each.
type Lender interface {
	Memory
	// Window returns the bytes that lie around addr in one copy: those from lo on,
	// which must not be changed and will not change. It returns none where addr is
	// in no copy.
	Window(addr uint64) (lo uint64, data []byte)
}

// A Mover is a Memory of a process that runs on while it is read.
type Mover interface {
	Memory
	// MovedOn reports whether what is read of a stack at addr is of another moment than
	// the registers of its thread.
	MovedOn(addr uint64) bool
}

// A Follower is a Mover that has copies of the stacks that its threads run on, and can
// make one where a thread has left another stack behind.
type Follower interface {
	Mover
	// Follow is told that a thread has changed stacks: what it has left behind begins at
	// to, and the frame that is the first on the stack that at is on has its SP there. It
	// reports whether what is read at to is of the same moment as what is at at.
	Follow(at, to uint64) (same bool)
}

// ErrUnmapped says that an address could not be read. Errors of ReadMemory wrap it.
var ErrUnmapped = errors.New("memory cannot be read")
