package record

import (
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// Check has each sample's walk checked.
func (r *Recorder) Check(check func(pid int, a *arch.Arch, modules *target.Modules, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason)) {
	r.engine.check = func(s *space, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason) {
		check(s.pid, s.arch, s.modules, regs, mem, pcs, stop)
	}
}

// Unstopped has each sample of a thread that was not stopped compared with the stack that it has
// when it is stopped then. differ is called if it sleeps at the same place, with other frames.
func (r *Recorder) Unstopped(same func(), differ func(asleep, stopped string)) {
	w := r.wall
	w.hookAsleep = func(p *space, th *live.Thread, again *live.Retaker) {
		asleep, regs := slices.Clone(w.stack), w.regs
		at := func(r arch.Registers) [2]uint64 { return [2]uint64{r.Value[p.arch.PC], r.Value[p.arch.SP]} }
		again.Retake(th, func() {
			th.Registers(&w.regs)
			there := at(regs)
			if now := at(w.regs); now != there && [2]uint64{now[0] + p.arch.SyscallRewind, now[1]} != there {
				return
			}
			n, stop := p.walk(th, th.Memory())
			p.decorate(th, th.Memory(), n, stop.Whole(), 0)
			w.stack = w.stack[:0]
			if p.appendPlaces(n); slices.Equal(w.stack, asleep) {
				same()
				return
			}
			text := func(stack []uint32) (s string) {
				for _, id := range stack {
					x := w.tree.places[id]
					s += fmt.Sprintf(" %#x", x.addr)
					if x.name > 0 {
						s += fmt.Sprint(w.tree.named[x.name-1])
					}
				}
				return s
			}
			differ(text(asleep), text(w.stack))
		})
	}
}

// MostReads is a bound.
var MostReads = &mostReads

// Reads returns of how many threads is kept what was read of them, and how many are counted.
func (r *Recorder) Reads() (kept, counted int) {
	for _, rest := range r.wall.rests {
		if rest.reads != nil {
			kept++
		}
	}
	return kept, r.wall.reads
}

// NoMapFiles leaves out the way to files that needs privileges.
func (r *Recorder) NoMapFiles() { r.machine.noMapFiles = true }

// ReadFileChecked is ReadFile, but has each sample's walk checked: the addresses in block, and
// where they are mapped.
func ReadFileChecked(data *perfdata.Reader, opts FileOptions, check func(tid int32, time uint64, modules *target.Modules, addrs []uint64, stop frame.StopReason)) (*File, error) {
	f := newFile(data, opts)
	f.engine.check = func(s *space, _ *arch.Registers, _ target.Memory, pcs []uint64, stop frame.StopReason) {
		addrs := slices.Clone(pcs)
		s.walker.AddressesInBlock(addrs)
		check(f.engine.sample.TID, f.engine.sample.Time, s.modules, addrs, stop)
	}
	return f, f.read()
}
