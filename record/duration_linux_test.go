package record_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// A recorder that a busy machine lets run too late counts the samples of the time that was asked
// for alone. Of the one thread, samples and lost ones together are no more than the kernel can have
// taken in that time. The machine may be so busy that the thread has not run then: there is another
// recorder.
func TestDuration(t *testing.T) {
	gdbtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	gdbtest.Await(t, "the process runs while it is recorded", func() bool { return lateRecorder(t, p) > 0 })
}

// lateRecorder records a process that runs for longer than is asked for, and returns how many
// samples it has.
func lateRecorder(t *testing.T, p *gdbtest.Process) uint64 {
	const duration, frequency = 200 * time.Millisecond, 9999
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: frequency, Duration: duration, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	before := gdbtest.Ran(t, p.PID)
	gdbtest.Await(t, "the process runs for longer", func() bool { return gdbtest.Ran(t, p.PID) > before+time.Second })
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	x := r.Profile()
	if most := uint64(duration * frequency / time.Second); x.Duration != duration || x.Stats.Samples+x.Stats.Lost > most {
		t.Fatalf("%d samples, %d lost in %v, want at most %d in %v", x.Stats.Samples, x.Stats.Lost, x.Duration, most, duration)
	}
	// A second has ten thousand samples of 60 KiB, and the rings take some hundred.
	if x.Stats.Samples > 0 && x.Stats.Lost == 0 {
		t.Fatalf("nothing was lost: %+v", x.Stats)
	}
	return x.Stats.Samples
}

// Stops end with the time, too.
func TestDurationOfWall(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Wall: true, Duration: 200 * time.Millisecond, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if x := r.Profile(); x.Duration != 200*time.Millisecond {
		t.Errorf("%v", x.Duration)
	}
}

// Each thread has a sample, also if a machine is so slow that the time is over before.
func TestFirstRound(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "2", "5")
	gdbtest.Await(t, "all threads are there", func() bool { return len(p.States(t)) == 3 })
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Wall: true, Duration: time.Nanosecond, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if x := r.Profile(); x.Stats.Samples != 3 || len(x.Threads) != 3 {
		t.Errorf("%d samples of %d threads", x.Stats.Samples, len(x.Threads))
	}
}

// Who has enough gets addresses, and a warning.
func TestEnough(t *testing.T) {
	gdbtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	take(t, r, 20, nil)
	names := symbol.New(symbol.Options{})
	defer names.Close()
	namer := record.NewNamer(names)
	namer.Enough = func() bool { return true }
	stacks := namer.Picture(r.Profile())
	for i := range stacks.Places {
		if at := &stacks.Places[i]; at.Function != "" || at.Shown() == "??" {
			t.Errorf("%+v", at)
		}
	}
	if said := strings.Join(namer.Warnings(), "\n"); !strings.Contains(said, "places have no names: it was interrupted") {
		t.Errorf("%q", said)
	}
	namer = record.NewNamer(names)
	named := namer.Picture(r.Profile())
	found := false
	for i := range named.Places {
		found = found || named.Places[i].Function == "deeper"
	}
	if !found || len(namer.Warnings()) > 0 {
		t.Errorf("deeper: %v; %q", found, namer.Warnings())
	}
}
