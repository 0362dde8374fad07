package live

import "github.com/sfwalk/sfwalk/arch/amd64"

// hostArch is the architecture of the processes that can be attached to.
var hostArch = amd64.Arch
