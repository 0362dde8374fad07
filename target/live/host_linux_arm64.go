package live

import "github.com/sfwalk/sfwalk/arch/arm64"

// hostArch is the architecture of the processes that can be attached to.
var hostArch = arm64.Arch
