package prologue

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
)

var _ frame.PreservedSniffer = (*Sniffer)(nil)

// PreservedRegisters returns the registers that THIS has not changed, although the ABI lets it
// change them: code that is written by hand counts on that. The call before the return address ra
// tells where the function begins. The sniffer reads the function's code to its returns, and the
// code of functions that it calls.
func (*Sniffer) PreservedRegisters(q *frame.Query, ra uint64) (set arch.RegSet) {
	if q.Arch.Preserves == nil || !q.MaySearch() {
		return set
	}
	entry, ok := entered(q, ra)
	if !ok {
		return set
	}
	buffer := buffers.Get().(*[before + behind]byte)
	defer buffers.Put(buffer)
	code, start := around(q, entry, buffer)
	kept, steps := q.Arch.Preserves(code, start, entry, q.PC)
	q.CountSearched(steps)
	for _, r := range kept {
		set.Add(r)
	}
	return set
}
