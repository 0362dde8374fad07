package arch

import (
	"slices"
	"strconv"
)

// GDB is what GDB, and stubs that speak its remote serial protocol, call things of a processor.
type GDB struct {
	// Names are the names of the architecture in target descriptions: BFD's, "i386:x86-64", and
	// LLVM's, "x86_64", which lldb-server writes.
	Names []string
	// Registers are the registers in the answer to the packet g, in order, of a stub that does not
	// describe its registers.
	Registers []GDBRegister
	// Aliases has the names of registers of Regs, by the other names that some stubs have for them.
	Aliases map[string]string
	// Parts are the registers of stubs that together are a wide register, by its name: the part
	// with the first bytes first. A stub may lack the last ones. It may also have the register
	// itself.
	Parts map[string][]string
	// VectorElements are the types of the elements of vector registers as values, in the order of
	// GDB's members: v4_float. nil where GDB has other members.
	VectorElements []VectorElement
	// gdbserver before release 15 reads some registers of some processors at wrong places.
	// Misplaced takes /proc/cpuinfo of the stub's machine, and returns a function that reports, by
	// a register's name, whether the value from gdbserver is another register's; nil if no register
	// is concerned. Misplaced is nil for architectures on which none ever is.
	Misplaced func(cpuinfo []byte) func(name string) bool
	// SystemCall is the register of stubs that has Control.SystemCall; "" if there is none.
	SystemCall string
	// X87Status is the register of stubs whose bits 11 to 13 have the number of the x87's register
	// that is the top of its stack; "" if there is none.
	X87Status string
	// Settable are the bits of registers, by the names of stubs, that a debugger's write sets: the
	// kernel or the processor keeps other bits of flags. A register of which no bit is settable
	// only tells of what has happened.
	Settable map[string]uint64
}

// VectorElement is a type of the elements of a vector register as a value.
type VectorElement struct {
	Name  string // GDB's: "float", "int8"
	Size  int    // bytes
	Float bool
}

// GDBRegister is a register as a stub has it.
type GDBRegister struct {
	Name string
	Bits int
}

// GDBRegisters returns registers of one width.
func GDBRegisters(bits int, names ...string) (list []GDBRegister) {
	for _, name := range names {
		list = append(list, GDBRegister{name, bits})
	}
	return list
}

// Numbered returns n names of registers that begin with prefix: x0, x1, ….
func Numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}

// ByGDBName returns the descriptor of an architecture by BFD's name, or nil.
func ByGDBName(name string) *Arch {
	return find(func(a *Arch) bool { return slices.Contains(a.GDB().Names, name) })
}

// Names returns the names of all descriptors, in alphabetical order.
func Names() (names []string) {
	for _, a := range registered {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}
