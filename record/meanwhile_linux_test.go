package record_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// Profiles that are taken while the recording goes on, each since the one before, add up to the
// profile of the whole.
func TestProfileMeanwhile(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "loads.c", "-O2"),
		gdbtest.Build(t, "loads.c", "-O2", "-shared", "-fPIC", "-DLIBRARY=first"), gdbtest.Build(t, "loads.c", "-O2", "-shared", "-fPIC", "-DLIBRARY=second", "-DPADDING"))
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Arch: amd64.Arch, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	namer := record.NewNamer(names)
	parts, taken := map[string]int64{}, 0
	var before *record.Profile
	part := func() {
		now := r.Profile()
		for stack, n := range counted(namer, now.Since(before)) {
			parts[stack] += n
		}
		before = now
		taken++
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				part()
			}
		}
	}()
	take(t, r, 300, nil)
	close(done)
	<-ended
	part()
	whole := counted(namer, before)
	t.Logf("%d profiles, %d stacks", taken, len(whole))
	if taken < 3 || before.Stats.Samples < 300 {
		t.Errorf("%d profiles, %+v", taken, before.Stats)
	}
	if len(parts) != len(whole) {
		t.Errorf("the parts have %d stacks, the whole has %d", len(parts), len(whole))
	}
	for stack, n := range whole {
		if parts[stack] != n {
			t.Errorf("%s: %d in the parts, %d in the whole", stack, parts[stack], n)
		}
	}
}

// Profiles that are taken while the recording goes on have all samples once, and each has its own
// places and threads alone.
func TestTake(t *testing.T) {
	gdbtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "loads.c", "-O2"),
		gdbtest.Build(t, "loads.c", "-O2", "-shared", "-fPIC", "-DLIBRARY=first"), gdbtest.Build(t, "loads.c", "-O2", "-shared", "-fPIC", "-DLIBRARY=second", "-DPADDING"))
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	namer := record.NewNamer(names)
	parts, samples := 0, uint64(0)
	var end time.Time
	part := func() *record.Profile {
		x := r.Take()
		var n int64
		for stack, count := range counted(namer, x) {
			if n += count; stack == "" || strings.HasPrefix(stack, "0x") {
				t.Errorf("part %d has the stack %q", parts, stack)
			}
		}
		if uint64(n) != x.Stats.Samples {
			t.Errorf("part %d has %d samples in stacks, and %d in all", parts, n, x.Stats.Samples)
		}
		if parts > 0 && !x.Start.Equal(end) {
			t.Errorf("part %d begins at %v, the one before ends at %v", parts, x.Start, end)
		}
		end = x.Start.Add(x.Duration)
		parts++
		samples += x.Stats.Samples
		return x
	}
	var first *record.Profile
	for range 3 {
		take(t, r, 100, nil)
		before := r.Profile()
		if got := before.Since(first).Stats.Samples; got < 100 { // a profile from before Take has nothing of these
			t.Errorf("%d samples since the profile before", got)
		}
		first = part()
	}
	if x := part(); x.Stats.Samples != 0 || len(x.Threads) != 0 {
		t.Errorf("a profile that was taken is there once more: %+v", x.Stats)
	}
	if samples < 300 {
		t.Errorf("%d samples", samples)
	}
}

// counted returns how often each stack was found.
func counted(namer *record.Namer, p *record.Profile) map[string]int64 {
	stacks, counts := namer.Picture(p), map[string]int64{}
	for _, s := range stacks.Samples {
		var names []string
		for _, f := range s.Frames {
			names = append(names, stacks.Places[f].Function+stacks.Places[f].Name)
		}
		counts[strings.Join(names, ";")] += s.Values[0]
	}
	return counts
}
