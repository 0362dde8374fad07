package s390x

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

var processor = &rowtest.Processor{
	Machine: Machine, Arch: Arch,
	CC: "s390x-linux-gnu-gcc", Objdump: []string{"s390x-linux-gnu-objdump", "-z"}, Entry: "r15+160", Call: "brasl",
	LeaveOut: leaveOut, Padding: padding, Returns: returns, Differs: differs, Refutes: refuted,
}

func TestReadAlloca(t *testing.T) { processor.Alloca(t) }

func TestReadSplit(t *testing.T) {
	processor.Split(t, "-O2", "-O2 -mbackchain")
}

func TestReadFrameTrap(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O2 -mbackchain"} {
		processor.Trap(t, flags, processor.Compile(t, frames, strings.Fields(flags)...),
			"\x00\x00", "\x00\x01") // what compilers trap by, and its like
	}
}
