package live

import (
	"runtime"

	"github.com/sfwalk/sfwalk/arch"
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
)

// hostArch is the architecture of the processes that can be attached to; nil if there is no descriptor
// of this machine's.
var hostArch = arch.ByName(runtime.GOARCH)
