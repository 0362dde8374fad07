package live

import "github.com/sfwalk/sfwalk/arch/s390x"

// hostArch is the architecture of the processes that can be attached to.
var hostArch = s390x.Arch
