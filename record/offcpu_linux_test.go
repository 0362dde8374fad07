package record_test

import (
	"slices"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// The time that a thread is away from its processor counts for the stack where it left: a nap of 20
// ms is no shorter than that.
func TestOffCPU(t *testing.T) {
	gdbtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "naps.c", "-O2"))
	event := perfevent.Events[slices.IndexFunc(perfevent.Events, func(e perfevent.Event) bool { return e.Switches })]
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Event: event, Arch: amd64.Arch, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		gdbtest.Cannot(t, err.Error()) // it takes a privilege
	}
	defer r.Close()
	take(t, r, 60, nil)
	profile := r.Profile()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	stacks := profile.Picture(names)
	var naps, all int64
	var napped time.Duration
	for _, s := range stacks.Samples {
		all += s.Values[0]
		napping := slices.ContainsFunc(s.Frames, func(f int32) bool { return stacks.Places[f].Function == "nap" })
		if napping && slices.Contains(s.Texts, picture.Text{Key: "state", Value: "waiting"}) {
			naps += s.Values[0]
			napped += time.Duration(s.Values[1])
		}
	}
	t.Logf("%+v; %d naps of %d samples, %v", profile.Stats, naps, all, napped)
	// A thread may lose its processor on the way to the nap, which is then shorter, and on a busy
	// machine it loses its processor far more often than it naps.
	if naps == 0 || napped < time.Duration(naps)*15*time.Millisecond || napped > profile.Duration {
		t.Errorf("%d naps took %v, of %v\n%+v", naps, napped, profile.Duration, stacks.Samples)
	}
	if stacks.Types[1] != (picture.Type{Name: "off-cpu", Unit: "nanoseconds"}) || stacks.Period != 0 {
		t.Errorf("%+v, %d", stacks.Types, stacks.Period)
	}
}
