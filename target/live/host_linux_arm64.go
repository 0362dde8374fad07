package live

import "github.com/sfwalk/sfwalk/arch/arm64"

// hostArch is the architecture of the processes that can be attached to.
var hostArch = arm64.Arch

// rewound is how far the PC of a thread that is stopped in a system call may be before the PC that
// the kernel tells of it while it is blocked there. What makes a system call once more is put into
// the registers before the tracer sees them: PC is at the instruction that makes the call
// (do_signal in arch/arm64/kernel/signal.c).
const rewound = 4
