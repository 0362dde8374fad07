package i386

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

var processor = rowtest.X86(rowtest.Processor{Machine: Machine, Arch: Arch, CC: "i686-linux-gnu-gcc", Objdump: []string{"i686-linux-gnu-objdump"}})

func TestReadAlloca(t *testing.T) { processor.Alloca(t) }

func TestReadSplit(t *testing.T) {
	processor.Split(t, "-O2", "-O2 -fno-omit-frame-pointer", "-O3 -fcf-protection -mavx2")
}

func TestReadFrameTrap(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O2 -fno-omit-frame-pointer", "-O2 -mavx2 -mstackrealign"} {
		processor.Trap(t, flags, processor.Compile(t, frames, strings.Fields(flags)...),
			"\x0f\x04\x0f", "\x0f\x0b", "\xf4") // undecodable, ud2, hlt
	}
}
