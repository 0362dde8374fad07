package prologue

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
)

var _ frame.PreservedSniffer = (*Sniffer)(nil)

// PreservedRegisters returns the registers that THIS, which returns to ra, has left alone although
// the ABI lets it change them: code that is written by hand counts on that. The call that stands
// before ra tells where the function begins; its code, and that of those that it calls, is read to
// its returns.
func (*Sniffer) PreservedRegisters(q *frame.Query, ra uint64) (set arch.RegSet) {
	if q.Arch.Preserves == nil || !q.MaySearch() {
		return set
	}
	entry, ok := entered(q, ra)
	if !ok {
		return set
	}
	code, start := around(q, entry)
	kept, steps := q.Arch.Preserves(code, start, entry, q.PC)
	q.CountSearched(steps)
	for _, r := range kept {
		set.Add(r)
	}
	return set
}
