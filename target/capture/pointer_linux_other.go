//go:build arm64 || s390x

package capture

import "github.com/sfwalk/sfwalk/arch"

// threadPointer is not needed: a register has g.
func threadPointer() uint64 { return 0 }

func setThreadPointer(*arch.Registers, uint64) {}
