package s390x

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/values"
	"github.com/sfwalk/sfwalk/internal/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

var processor = &rowtest.Processor{
	Machine: Machine, Arch: Arch,
	CC: "s390x-linux-gnu-gcc", Objdump: []string{"s390x-linux-gnu-objdump", "-z"}, Entry: "r15+160", Call: "brasl",
	Differs: func(s *values.State, row *trad.Row, want *rowtest.Row, _ *rowtest.FDE) (bad, other []string) {
		bad, other, _ = differs(s, row, want)
		return bad, other
	},
}

func TestReadSplit(t *testing.T) {
	processor.Split(t, "-O2", "-O2 -mbackchain")
}

func TestReadFrameTrap(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O2 -mbackchain"} {
		processor.Trap(t, flags, compile(t, strings.Fields(flags)...),
			"\x00\x00", "\x00\x01") // what compilers trap by, and its like
	}
}
