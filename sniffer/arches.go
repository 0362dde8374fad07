package sniffer

// The descriptors of processors whose live processes can be attached to: a table of sniffers is for
// one of them.
import (
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
)
