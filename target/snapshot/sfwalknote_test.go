package snapshot

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/bounds"
)

// TestOneIDOfMany: a note may have any number of names of registers, and a core any number of
// threads with one ID.
func TestOneIDOfMany(t *testing.T) {
	last := amd64.Arch.Regs[len(amd64.Arch.Regs)-1]
	n := threadNote{TID: 1}
	for range 60000 {
		n.Registers = append(n.Registers, last.Name)
	}
	bounds.Hold(t, 16<<20, func() {
		for range 4000 {
			var th Thread
			th.Regs.Set(amd64.RAX, 1)
			th.Regs.Set(last.Num, 2)
			n.apply(amd64.Arch, &th)
			if v, ok := th.Regs.Get(last.Num); th.Regs.Known.Len() != 1 || !ok || v != 2 {
				t.Fatalf("%v, %d", th.Regs.Known, v)
			}
		}
	})
}
