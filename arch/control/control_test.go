package control_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/arch/s390x"
)

// The PC is at the place that the architecture's descriptor says.
func TestPC(t *testing.T) {
	for _, a := range []*arch.Arch{amd64.Arch, arm64.Arch, i386.Arch, s390x.Arch} {
		name, c := a.Name, control.ByName(a.Name)
		k := a.KernelRegs[0]
		if k.Note != control.NTPRStatus || k.Size != c.StatusSize {
			t.Errorf("%s: the set %d has %d bytes, want %d", name, k.Note, k.Size, c.StatusSize)
		}
		pc := uint64(0x123456789abcdef0)
		status := make([]byte, k.Size)
		if c.PCSize == 4 {
			pc >>= 32
			a.Order.PutUint32(status[c.PC:], uint32(pc))
		} else {
			a.Order.PutUint64(status[c.PC:], pc)
		}
		var regs arch.Registers
		k.Get(a, status, &regs)
		if got, ok := regs.Get(a.PC); !ok || got != pc {
			t.Errorf("%s: the PC is %#x, want %#x", name, got, pc)
		}
	}
}
