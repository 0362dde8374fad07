package live

import (
	"runtime"

	"github.com/sfwalk/sfwalk/arch"
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
)

// hostArch is the architecture of the processes that can be attached to; nil if there is no
// descriptor of this machine's.
var hostArch = arch.ByName(runtime.GOARCH)

// narrowArch is the architecture of the 32-bit programs that the kernel of this machine runs beside
// programs of hostArch; nil if it runs none, or if nobody knows how to read their threads.
var narrowArch = narrowOf(hostArch)

func narrowOf(a *arch.Arch) *arch.Arch {
	if a == nil || !a.Holds32 {
		return nil
	}
	return a.Of32Bits()
}
