package minidump

import "sync"

// machExceptions are Mach's exceptions (mach/exception_types.h), and two of Crashpad's.
var machExceptions = sync.OnceValue(func() map[uint32]string {
	return map[uint32]string{
		1: "EXC_BAD_ACCESS", 2: "EXC_BAD_INSTRUCTION", 3: "EXC_ARITHMETIC", 4: "EXC_EMULATION", 5: "EXC_SOFTWARE", 6: "EXC_BREAKPOINT", 7: "EXC_SYSCALL",
		8: "EXC_MACH_SYSCALL", 9: "EXC_RPC_ALERT", 11: "EXC_RESOURCE", 12: "EXC_GUARD",
	}
})

// machCodes are the codes of Mach's exceptions on all processors.
var machCodes = sync.OnceValue(func() map[string]map[uint32]string {
	return map[string]map[uint32]string{
		"EXC_BAD_ACCESS": {1: "KERN_INVALID_ADDRESS", 2: "KERN_PROTECTION_FAILURE", 8: "KERN_NO_ACCESS", 9: "KERN_MEMORY_FAILURE", 10: "KERN_MEMORY_ERROR", 50: "KERN_CODESIGN_ERROR"},
		"EXC_SOFTWARE":   {0x10002: "SIGABRT", 0xdeadc0de: "UNCAUGHT_NS_EXCEPTION", 1: "EXC_PPC_TRAP", 0x10100: "EXC_PPC_MIGRATE"},
	}
})

// intelCodes, armCodes and powerCodes are the codes of one processor each (mach/i386/exception.h
// and so on).
var (
	intelCodes = sync.OnceValue(func() map[string]map[uint32]string {
		return map[string]map[uint32]string{
			"EXC_BAD_ACCESS":      {13: "EXC_I386_GPFLT"},
			"EXC_BAD_INSTRUCTION": {1: "EXC_I386_INVOP", 10: "EXC_I386_INVTSSFLT", 11: "EXC_I386_SEGNPFLT", 12: "EXC_I386_STKFLT", 13: "EXC_I386_GPFLT", 17: "EXC_I386_ALIGNFLT"},
			"EXC_ARITHMETIC": {1: "EXC_I386_DIV", 2: "EXC_I386_INTO", 3: "EXC_I386_NOEXT", 4: "EXC_I386_EXTOVR", 5: "EXC_I386_EXTERR", 6: "EXC_I386_EMERR",
				7: "EXC_I386_BOUND", 8: "EXC_I386_SSEEXTERR"},
			"EXC_BREAKPOINT": {1: "EXC_I386_SGL", 2: "EXC_I386_BPT"},
		}
	})
	armCodes = sync.OnceValue(func() map[string]map[uint32]string {
		return map[string]map[uint32]string{
			"EXC_BAD_ACCESS":      {0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG"},
			"EXC_BAD_INSTRUCTION": {1: "EXC_ARM_UNDEFINED"},
			"EXC_BREAKPOINT":      {0x101: "EXC_ARM_DA_ALIGN", 0x102: "EXC_ARM_DA_DEBUG", 1: "EXC_ARM_BREAKPOINT"},
		}
	})
	powerCodes = sync.OnceValue(func() map[string]map[uint32]string {
		return map[string]map[uint32]string{
			"EXC_BAD_ACCESS": {0x101: "EXC_PPC_VM_PROT_READ", 0x102: "EXC_PPC_BADSPACE", 0x103: "EXC_PPC_UNALIGNED"},
			"EXC_BAD_INSTRUCTION": {1: "EXC_PPC_INVALID_SYSCALL", 2: "EXC_PPC_UNIPL_INST", 3: "EXC_PPC_PRIVINST", 4: "EXC_PPC_PRIVREG", 5: "EXC_PPC_TRACE",
				6: "EXC_PPC_PERFMON"},
			"EXC_ARITHMETIC": {1: "EXC_PPC_OVERFLOW", 2: "EXC_PPC_ZERO_DIVIDE", 3: "EXC_FLT_INEXACT", 4: "EXC_PPC_FLT_ZERO_DIVIDE", 5: "EXC_PPC_FLT_UNDERFLOW",
				6: "EXC_PPC_FLT_OVERFLOW", 7: "EXC_PPC_FLT_NOT_A_NUMBER", 8: "EXC_PPC_NOEMULATION", 9: "EXC_PPC_ALTIVECASSIST"},
			"EXC_BREAKPOINT": {1: "EXC_PPC_BREAKPOINT"},
		}
	})
)

const simulatedApple = 0x43507378 // Crashpad's, for a dump without a crash

func (x *Exception) apple(p Processor, flags string) string {
	const nsException = 0x43506e78
	switch x.Code {
	case simulatedApple:
		return "Simulated Exception"
	case nsException:
		return "Uncaught NSException"
	}
	name := machExceptions()[x.Code]
	if name == "" {
		return ""
	}
	if code := machCodes()[name][x.Flags]; code != "" {
		return name + " / " + code
	}
	codes := map[Processor]map[string]map[uint32]string{
		X86: intelCodes(), AMD64: intelCodes(), ARM: armCodes(), ARM64: armCodes(), ARM64Old: armCodes(), PPC: powerCodes(),
	}[p]
	if code := codes[name][x.Flags]; code != "" {
		return name + " / " + code
	}
	return name + " / " + flags
}
