package report

// These architectures' targets are read.
import (
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
)
