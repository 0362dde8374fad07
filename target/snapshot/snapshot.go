package snapshot

import (
	"errors"
	"io"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/trad"
)

// Snapshot is a copy of a process: what unwinding needs of it.
type Snapshot struct {
	Arch    *arch.Arch // with the process's own address mask
	PID     int
	Exe     string // the program's path as the process names it; "" if not known
	Command string // the command line; a file keeps 79 bytes of it

	Taken time.Time     // when the first thread was asked to stop
	Pause time.Duration // the longest time that any one thread was held
	// Consistent says that all registers and stacks are of one moment, at which all threads that
	// could be stopped were stopped.
	Consistent bool
	// Monotonic is CLOCK_MONOTONIC at the moment of the threads; 0 if it is not known. Times in the
	// process's memory count by it.
	Monotonic time.Duration

	Threads []Thread // the main thread first
	// Maps are the process's mappings, ascending. They include at least the mappings that hold
	// Memory and the PCs. Offsets are multiples of 4096.
	Maps    []procmaps.Mapping
	Modules []Module // the mapped files that have code, ascending by Lo
	Memory  []Block  // what was copied, ascending, disjoint
	Files   []File   // mapped files that will not be found at their paths
	// Tasks are the tasks of languages, coroutines and the like, as the maker has listed them: JSON
	// that this package does not read; nil if it has not.
	Tasks []byte
	// Auxv is the auxiliary vector as the kernel gives it (/proc/PID/auxv). Debuggers find the
	// program, the dynamic linker and the vDSO by it.
	Auxv []byte
}

// Thread is one thread of a [Snapshot] or of a [Target]. It implements
// [github.com/sfwalk/sfwalk/target.Thread].
type Thread struct {
	TID  int    // the kernel's thread ID; positive
	Comm string // the kernel's name for the thread, at most 15 bytes
	Regs arch.Registers
	Sets target.RegisterSets // with its wide registers; nil if they are not known. A Target's thread reads them when it is asked

	// Blocked are the signals that the thread blocks: signal 1 in bit 0. It is 0 also if that is
	// not known.
	Blocked uint64

	Held time.Duration // how long the thread was held
	// Err says why the thread could not be stopped; nil if it was. A thread with an Err has no
	// registers, or only PC and SP, as the kernel told them.
	Err error
	// MovedOn says that the thread ran on before all of its stack in Memory was copied, so its
	// outer frames may be of a later moment.
	MovedOn bool
	// Waits is for what the thread waited in a system call, as its maker knew: an object of JSON
	// that this package does not read; nil if that is not known.
	Waits []byte
	// Languages is what languages said of the stack, as its maker knew: JSON that this package does
	// not read; nil if that is not known.
	Languages []byte

	core *core.Thread // nil if the thread is no target's
}

// ID returns the thread's ID.
func (t *Thread) ID() int { return t.TID }

// Name returns the thread's name.
func (t *Thread) Name() string { return t.Comm }

// Registers fills in the known registers. If there are none, it returns Err.
func (t *Thread) Registers(r *arch.Registers) error {
	if t.Regs.Known == (arch.RegSet{}) {
		if t.Err != nil {
			return t.Err
		}
		return errNoRegisters
	}
	*r = t.Regs
	return nil
}

// SignalMask implements [target.MaskedThread].
func (t *Thread) SignalMask() (blocked, unknown uint64) {
	if t.core != nil {
		return t.core.SignalMask()
	}
	if t.Blocked == 0 {
		return 0, ^uint64(0)
	}
	return t.Blocked, 0
}

// ReadRegister implements [target.WideThread].
func (t *Thread) ReadRegister(r trad.Reg, offset int, b []byte) error {
	if t.core == nil {
		return errNoRegisters
	}
	return t.core.ReadRegister(r, offset, b)
}

var errNoRegisters = errors.New("the thread's registers are not known")

// Module is one mapped file, with what identifies it later.
type Module struct {
	Path    string // as the process names it
	Lo      uint64 // its lowest mapped address
	BuildID string // hexadecimal; "" if not known
}

// File is a mapped file, whole.
type File struct {
	Lo      uint64 // the lowest address at which it is mapped
	Content *io.SectionReader
}

// Block is a copy of memory.
type Block struct {
	Addr uint64
	Data []byte
	// Late says that frames in the block may be of another moment than the registers. Either the
	// thread had run on when its stack was copied, or threads were copied at several moments, and
	// this memory is of only one of them.
	Late bool
}

// End returns the first address behind the block.
func (b *Block) End() uint64 { return b.Addr + uint64(len(b.Data)) }
