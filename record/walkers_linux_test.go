package record

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/sniffer"
)

// However many processes are sampled, as many have a walker as there is room for, and each is
// walked.
func TestManyProcesses(t *testing.T) {
	tables := 0
	format := &perfevent.Format{SampleType: perfevent.SampleRegsUser | perfevent.SampleStackUser, UserRegs: amd64.Arch.PerfMask()}
	e := newEngine(newRecorded(nil, Places{}, t.Logf), format, Options{Arch: amd64.Arch, Table: func(_ int, a *arch.Arch) *frame.Table { tables++; return sniffer.Table(a) }})
	e.file = newRecorded(&perfdata.Reader{}, Places{}, t.Logf)
	s := perfevent.Sample{ABI: perfevent.Regs64, Regs: make([]uint64, 20)}
	for range 2 {
		for pid := range int32(maxWalkers + 10) {
			s.PID, s.TID = pid+1, pid+1
			e.take(&s)
		}
	}
	have := 0
	for _, p := range e.spaces {
		if p.walker != nil {
			have++
		}
	}
	if have != maxWalkers || len(e.walking) != maxWalkers || e.stats.Samples != 2*(maxWalkers+10) || e.stats.Samples != e.stats.Stopped+e.stats.Cut+e.stats.Whole || tables <= maxWalkers+10 {
		t.Errorf("%d walkers, %d in the list, %d tables: %+v", have, len(e.walking), tables, e.stats)
	}
	e.forget(maxWalkers + 10)
	if len(e.walking) != maxWalkers-1 {
		t.Errorf("%d walkers when one process has ended", len(e.walking))
	}
}
