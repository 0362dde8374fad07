package capture

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
)

// threadPointer returns the address of the thread's own data, by which Go's run time is found.
func threadPointer() (v uint64) {
	const archGetFS = 0x1003
	unix.RawSyscall(unix.SYS_ARCH_PRCTL, archGetFS, uintptr(unsafe.Pointer(&v)), 0)
	return v
}

func setThreadPointer(r *arch.Registers, v uint64) { r.Set(amd64.FSBase, v) }
