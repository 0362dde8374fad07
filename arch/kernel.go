package arch

import (
	"github.com/sfwalk/sfwalk/trad"
)

// KernelRegs is the layout of one of the Linux kernel's register sets: what
// PTRACE_GETREGSET gives for a note type, and what a core file's note of that
// type holds (NT_PRSTATUS's behind its header of [Arch.PRStatusHeader] bytes).
type KernelRegs struct {
	Note uint32 // NT_PRSTATUS, NT_PRFPREG, … (elf.h)
	Size int    // bytes of a whole set, or of as much as is read of it
	Regs []KernelReg

	// Read and Write take the place of Regs in a set whose own header says how to
	// take it; nil elsewhere. Write gets a set of Size bytes, all zero, and reports
	// whether there is anything to say.
	Read  func(a *Arch, data []byte, to *Registers)
	Write func(a *Arch, from *Registers, data []byte) bool

	// ForValues says that no walk needs the set: of a process that runs it is read only if values
	// in frames are asked for.
	ForValues bool
}

// KernelReg is the place of one register in a set.
type KernelReg struct {
	Reg  trad.Reg
	Off  int // bytes from the set's beginning
	Size int // 2, 4 or 8 bytes
}

// PRStatusHeader returns where a core file's NT_PRSTATUS has its registers (struct
// elf_prstatus.pr_reg), bytes: behind the signal's information, four identifiers, and ten numbers
// of the size of a pointer.
func (a *Arch) PRStatusHeader() int { return 16 + 4*4 + 10*a.PtrSize }

// PRPSInfo is where fields of a core file's NT_PRPSINFO (struct elf_prpsinfo) are, bytes from its
// beginning.
type PRPSInfo struct {
	Size    int
	PID     int
	Name    int // pr_fname, 16 bytes, up to Command
	Command int // pr_psargs, 80 bytes, up to the end
}

// PRPSInfo returns where the fields of NT_PRPSINFO are. User and group IDs have 16 bits in the
// notes of 32-bit x86 and arm.
func (a *Arch) PRPSInfo() PRPSInfo {
	if a.PtrSize == 4 {
		return PRPSInfo{Size: 124, PID: 12, Name: 28, Command: 44}
	}
	return PRPSInfo{Size: 136, PID: 24, Name: 40, Command: 56}
}

// Owner returns whose note of a core file has the set: the kernel's names (elf.h).
func (k *KernelRegs) Owner() string {
	if k.Note < firstLinuxNote {
		return "CORE"
	}
	return "LINUX"
}

// firstLinuxNote is the lowest type of the notes that are not all systems'.
const firstLinuxNote = 0x100

// Get fills in the registers that data, a set or as much of it as there is, has.
func (k *KernelRegs) Get(a *Arch, data []byte, to *Registers) {
	if k.Read != nil {
		k.Read(a, data, to)
		return
	}
	for _, r := range k.Regs {
		switch {
		case r.Off+r.Size > len(data):
		case r.Size == 2:
			to.Set(r.Reg, uint64(a.Order.Uint16(data[r.Off:])))
		case r.Size == 4:
			to.Set(r.Reg, uint64(a.Order.Uint32(data[r.Off:])))
		default:
			to.Set(r.Reg, a.Order.Uint64(data[r.Off:]))
		}
	}
}

// Put writes the registers that are known into data, a set of Size bytes. Bytes of other registers
// stay as they are. Put reports whether the set has anything to say: a core file of a process
// without such registers has no such set.
func (k *KernelRegs) Put(a *Arch, from *Registers, data []byte) bool {
	if k.Write != nil || k.Read != nil {
		return k.Write != nil && k.Write(a, from, data)
	}
	for _, r := range k.Regs {
		v, ok := from.Get(r.Reg)
		switch {
		case !ok:
		case r.Size == 2:
			a.Order.PutUint16(data[r.Off:], uint16(v))
		case r.Size == 4:
			a.Order.PutUint32(data[r.Off:], uint32(v))
		default:
			a.Order.PutUint64(data[r.Off:], v)
		}
	}
	return true
}
