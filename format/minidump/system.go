package minidump

import (
	"fmt"
	"strings"
	"sync"
)

// System is the machine (MINIDUMP_SYSTEM_INFO).
type System struct {
	Known              bool // the dump has the stream
	Processor          Processor
	Level              uint16 // x86: the family
	Revision           uint16 // x86: model and stepping
	Processors         int
	OS                 OS
	Major              uint32
	Minor              uint32
	Build              uint32
	Version            string // of the system, in its words: a service pack, uname's line
	CPU                [24]byte
	armID, armFeatures uint32 // what CPU has of arm
	Graphics           string // of a microdump: versions and names, with "|" between them; "" if it is not known
}

// Processor is a processor's architecture (PROCESSOR_ARCHITECTURE_…; numbers from 0x8001 on are
// Breakpad's).
type Processor uint16

// The processors of real dumps.
const (
	X86      Processor = 0
	MIPS     Processor = 1
	PPC      Processor = 3
	ARM      Processor = 5
	AMD64    Processor = 9
	X86Win64 Processor = 10
	ARM64    Processor = 12
	SPARC    Processor = 0x8001
	PPC64    Processor = 0x8002
	ARM64Old Processor = 0x8003 // Breakpad's, before Microsoft had one
	MIPS64   Processor = 0x8004
	RISCV    Processor = 0x8005
	RISCV64  Processor = 0x8006
)

var processorNames = sync.OnceValue(func() map[Processor]string {
	return map[Processor]string{
		X86: "x86", MIPS: "mips", PPC: "ppc", ARM: "arm", AMD64: "amd64", X86Win64: "x86", ARM64: "arm64", SPARC: "sparc", PPC64: "ppc64",
		ARM64Old: "arm64", MIPS64: "mips64", RISCV: "riscv", RISCV64: "riscv64",
	}
})

// String returns Breakpad's name of the processor; of others the number, as "0x0007".
func (p Processor) String() string {
	if name := processorNames()[p]; name != "" {
		return name
	}
	return fmt.Sprintf("%#04x", uint16(p))
}

// AddressBits returns the width of an address: 32 or 64.
func (p Processor) AddressBits() int {
	switch p {
	case X86, MIPS, PPC, ARM, X86Win64, RISCV:
		return 32
	}
	return 64
}

// OS is an operating system (VER_PLATFORM_…; numbers from 0x8000 on are Breakpad's).
type OS uint32

// The systems of real dumps.
const (
	WindowsOld OS = 1 // 95, 98, Me
	Windows    OS = 2 // NT and all since
	MacOS      OS = 0x8101
	IOS        OS = 0x8102
	LinuxOS    OS = 0x8201
	Solaris    OS = 0x8202
	Android    OS = 0x8203
	PS3        OS = 0x8204
	NaCl       OS = 0x8205
	Fuchsia    OS = 0x8206
)

var osNames = sync.OnceValue(func() map[OS]string {
	return map[OS]string{
		WindowsOld: "Windows", Windows: "Windows NT", MacOS: "Mac OS X", IOS: "iOS", LinuxOS: "Linux", Solaris: "Solaris", Android: "Android",
		PS3: "PS3", NaCl: "NaCl", Fuchsia: "Fuchsia",
	}
})

// String returns Breakpad's name of the system; of others the number, as "0x00000003".
func (o OS) String() string {
	if name := osNames()[o]; name != "" {
		return name
	}
	return fmt.Sprintf("%#08x", uint32(o))
}

// IsWindows reports whether the system is one of Microsoft's.
func (o OS) IsWindows() bool { return o <= 3 }

// IsLinux reports whether the system has Linux's kernel.
func (o OS) IsLinux() bool { return o == LinuxOS || o == Android }

// IsApple reports whether the system is one of Apple's.
func (o OS) IsApple() bool { return o == MacOS || o == IOS }

// Release returns the system's version: numbers, and its own words if it has some.
func (s *System) Release() string {
	if s.Major|s.Minor|s.Build == 0 && s.Version != "" {
		return s.Version // Breakpad's client on Linux knows no numbers
	}
	if s.OS.IsLinux() && max(s.Major, s.Minor) > 0xffff {
		return s.Version // LLDB leaves the numbers as they were in its memory
	}
	if s.Major|s.Minor|s.Build == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d.%d.%d %s", s.Major, s.Minor, s.Build, s.Version))
}

// Describe returns what is known of the processor beside its architecture; "" if that is nothing.
func (s *System) Describe() string {
	switch s.Processor {
	case X86, AMD64, X86Win64:
		if s.Level|s.Revision == 0 {
			return ""
		}
		vendor := ""
		if s.Processor != AMD64 { // the field has other bits of amd64
			vendor = upToZero(s.CPU[:12])
		}
		if vendor != "" {
			vendor += " "
		}
		return fmt.Sprintf("%sfamily %d model %d stepping %d", vendor, s.Level, s.Revision>>8, s.Revision&0xff)
	case ARM:
		if s.Level == 0 {
			return ""
		}
		return s.describeARM()
	}
	return ""
}

func (f *File) readSystem(s Stream) error {
	b, err := f.r.at(s.Location)
	if err != nil {
		return err
	}
	if len(b) < 32 {
		return errShort
	}
	f.System = System{
		Known:     true,
		Processor: Processor(f.Order.Uint16(b)), Level: f.Order.Uint16(b[2:]), Revision: f.Order.Uint16(b[4:]), Processors: int(b[6]),
		Major: f.Order.Uint32(b[8:]), Minor: f.Order.Uint32(b[12:]), Build: f.Order.Uint32(b[16:]), OS: OS(f.Order.Uint32(b[20:])),
	}
	copy(f.System.CPU[:], b[32:])
	if f.System.Processor == ARM && len(b) >= 40 {
		f.System.armID, f.System.armFeatures = f.Order.Uint32(b[32:]), f.Order.Uint32(b[36:])
	}
	f.System.Version, err = f.r.text(uint64(f.Order.Uint32(b[24:])))
	return err
}
