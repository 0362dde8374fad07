package live

import "github.com/sfwalk/sfwalk/arch/s390x"

// hostArch is the architecture of the processes that can be attached to.
var hostArch = s390x.Arch

// rewound is how far the PC of a thread that is stopped in a system call may be before the PC that
// the kernel tells of it while it is blocked there. The registers are changed behind the tracer's
// back, when the call is made once more.
const rewound = 0
