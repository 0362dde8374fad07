package live

import (
	"debug/elf"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
)

// The processes that can be attached to.
var hostArch = amd64.Arch

const hostMachine, hostClass = elf.EM_X86_64, elf.ELFCLASS64

// prstatus is the register set NT_PRSTATUS: struct user_regs_struct (sys/user.h).
type prstatus = unix.PtraceRegs

// errShortRegisters says that a thread's register set is that of another ABI.
var errShortRegisters = errors.New("its registers are those of a 32-bit program")

// registers converts the n bytes of a register set that the kernel has filled in.
func registers(p *prstatus, n int, r *arch.Registers) error {
	if n != int(unsafe.Sizeof(*p)) {
		return errShortRegisters
	}
	r.Set(amd64.RAX, p.Rax)
	r.Set(amd64.RBX, p.Rbx)
	r.Set(amd64.RCX, p.Rcx)
	r.Set(amd64.RDX, p.Rdx)
	r.Set(amd64.RSI, p.Rsi)
	r.Set(amd64.RDI, p.Rdi)
	r.Set(amd64.RBP, p.Rbp)
	r.Set(amd64.RSP, p.Rsp)
	r.Set(amd64.R8, p.R8)
	r.Set(amd64.R9, p.R9)
	r.Set(amd64.R10, p.R10)
	r.Set(amd64.R11, p.R11)
	r.Set(amd64.R12, p.R12)
	r.Set(amd64.R13, p.R13)
	r.Set(amd64.R14, p.R14)
	r.Set(amd64.R15, p.R15)
	r.Set(amd64.RIP, p.Rip)
	r.Set(amd64.RFLAGS, p.Eflags)
	r.Set(amd64.CS, p.Cs)
	r.Set(amd64.SS, p.Ss)
	r.Set(amd64.DS, p.Ds)
	r.Set(amd64.ES, p.Es)
	r.Set(amd64.FS, p.Fs)
	r.Set(amd64.GS, p.Gs)
	r.Set(amd64.FSBase, p.Fs_base)
	r.Set(amd64.GSBase, p.Gs_base)
	return nil
}
