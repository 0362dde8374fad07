package record

import "github.com/sfwalk/sfwalk/perfevent"

// chained appends the frames of the program, of a sample without a copy of the stack, by the kernel's own walk along frame pointers. Without
// that, there is the instruction alone.
func (e *engine) chained(s *perfevent.Sample) {
	chain := userChain(s.Chain)
	if len(chain) > 0 {
		e.stats.Unwalked++
	} else if s.Misc&perfevent.MiscMode == perfevent.MiscUser && e.format.SampleType&perfevent.SampleIP != 0 {
		chain = []uint64{s.IP}
		e.stats.Bare++
	} else {
		return
	}
	p := e.space(s)
	if p == nil {
		return
	}
	p.refresh()
	for i, pc := range chain {
		if i > 0 {
			pc-- // a return address
		}
		e.stack = append(e.stack, e.tree.place(p.place(pc)))
	}
}
