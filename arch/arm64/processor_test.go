package arm64

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/rowtest"
)

var processor = &rowtest.Processor{
	Machine: Machine, Arch: Arch,
	CC: "aarch64-linux-gnu-gcc", Objdump: []string{"aarch64-linux-gnu-objdump", "-z"}, Entry: "sp+0", Call: "bl",
	LeaveOut: leaveOut, Padding: padding, Returns: returns, Differs: differs,
}

func TestReadAlloca(t *testing.T) { processor.Alloca(t) }

func TestReadSplit(t *testing.T) {
	processor.Split(t, "-O2", "-O2 -fomit-frame-pointer", "-O2 -mbranch-protection=standard")
}

func TestReadFrameTrap(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O2 -fomit-frame-pointer", "-O2 -mbranch-protection=standard"} {
		processor.Trap(t, flags, link(t, flags+" -fno-stack-clash-protection"), // see wrongTable
			string(insns(0)), string(insns(0x0000dead)), string(insns(0xd4207d00))) // udf #0, udf #0xdead, brk #0x3e8
	}
}
