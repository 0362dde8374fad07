package record_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// one is a sample as a target: its stack can be walked as any other.
type one struct {
	a       *arch.Arch
	modules *target.Modules
	regs    *arch.Registers
	mem     target.Memory
}

func (o *one) Arch() *arch.Arch                  { return o.a }
func (o *one) Memory() target.Memory             { return o.mem }
func (o *one) Threads() ([]target.Thread, error) { return []target.Thread{o}, nil }
func (o *one) Modules() *target.Modules          { return o.modules }
func (o *one) Close() error                      { return nil }
func (o *one) ID() int                           { return 1 }
func (o *one) Name() string                      { return "" }
func (o *one) Registers(to *arch.Registers) error {
	*to = *o.regs
	return nil
}

// The functions have the shares that the program keeps by its own clock, and each sample's stack is
// the same as a frame.Stack's.
func TestShares(t *testing.T) {
	gdbtest.CanRecord(t)
	for _, v := range []struct {
		name  string
		depth string
		how   func(record.Stats) uint64 // what all samples are
		flags []string
	}{
		{"no frame pointers", "40", func(s record.Stats) uint64 { return s.Whole }, []string{"-O2", "-fomit-frame-pointer", "-pthread"}},
		{"deeper than the copy", "60", func(s record.Stats) uint64 { return s.Chained }, []string{"-O1", "-fno-omit-frame-pointer", "-pthread", "-DROOM=1200"}},
		{"deeper than frame pointers lead", "1500", func(s record.Stats) uint64 { return s.Cut }, []string{"-O1", "-fno-omit-frame-pointer", "-pthread"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", v.flags...), "2", v.depth)
			r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Arch: amd64.Arch, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			checked := 0
			take(t, r, 400, func(_ int, a *arch.Arch, modules *target.Modules, regs *arch.Registers, mem target.Memory, _ []uint64, _ frame.StopReason) {
				if checked++; checked%20 != 0 {
					return
				}
				c := walktest.New(modules, sniffer.Table(a))
				o := &one{a, modules, regs, mem}
				if err := c.Check(o, o); err != nil {
					t.Error(err)
				}
			})
			profile := r.Profile()
			names := symbol.New(symbol.Options{})
			defer names.Close()
			shares := map[string]float64{}
			var all float64
			stacks := profile.Picture(names)
			for _, s := range stacks.Samples {
				for _, f := range s.Frames {
					switch name := stacks.Places[f].Function; name {
					case "half", "three_tenths", "one_fifth":
						shares[name] += float64(s.Values[0])
						all += float64(s.Values[0])
					}
				}
			}
			t.Logf("%+v; %v of %v", profile.Stats, shares, all)
			if all < 300 {
				t.Fatalf("%v samples are in functions with names", all)
			}
			for name, want := range map[string]float64{"half": 0.5, "three_tenths": 0.3, "one_fifth": 0.2} {
				// Samples are taken about independently of where the program is: four standard
				// deviations.
				if off := math.Abs(shares[name]/all - want); off > 4*math.Sqrt(want*(1-want)/all)+0.01 {
					t.Errorf("%s has %v of %v samples, want %v", name, shares[name], all, want)
				}
			}
			if n := v.how(profile.Stats); n < profile.Stats.Samples*9/10 {
				t.Errorf("%d stacks end as they should: %+v", n, profile.Stats)
			}
		})
	}
}

// A process loads one library where another one was, again and again. Each sample is named by the
// library that was there then.
func TestLoads(t *testing.T) {
	gdbtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "loads.c", "-O2"),
		gdbtest.Build(t, "loads.c", "-O2", "-shared", "-fPIC", "-DLIBRARY=first"), gdbtest.Build(t, "loads.c", "-O2", "-shared", "-fPIC", "-DLIBRARY=second", "-DPADDING"))
	stacks, stats := recorded(t, p.PID, 300)
	counts := map[string]int64{}
	for _, s := range stacks.Samples {
		var names []string
		for _, f := range s.Frames {
			names = append(names, stacks.Places[f].Function)
		}
		if i := slices.Index(names, "compute"); i > 0 && slices.Contains(names[i:], "main") {
			for _, name := range names[:i] {
				if name == "first" || name == "second" {
					counts[name] += s.Values[0]
				}
			}
		}
	}
	t.Logf("%+v %v", stats, counts)
	all := counts["first"] + counts["second"]
	// Each computes for the same time. Some samples are in the dynamic linker, and in the clock's
	// code.
	if uint64(all) < stats.Samples*8/10 || stats.Whole < stats.Samples*95/100 {
		t.Errorf("%d of %+v samples are of the libraries", all, stats)
	}
	if off := math.Abs(float64(counts["first"])/float64(all) - 0.5); off > 2/math.Sqrt(float64(all))+0.05 {
		t.Errorf("the samples are %v, want as many of each", counts)
	}
}

// check looks at the walk of a sample.
type check = func(pid int, a *arch.Arch, modules *target.Modules, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason)

// take records until there are so many samples, however busy the machine is. also, which may be
// nil, is called with each.
func take(t *testing.T, r *record.Recorder, samples int, also check) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	taken := 0
	r.Check(func(pid int, a *arch.Arch, modules *target.Modules, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason) {
		if also != nil {
			also(pid, a, modules, regs, mem, pcs, stop)
		}
		if taken++; taken == samples {
			cancel()
		}
	})
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// recorded records a process.
func recorded(t *testing.T, pid int, samples int) (*picture.Stacks, record.Stats) {
	t.Helper()
	r := started(t, pid)
	take(t, r, samples, nil)
	return pictured(t, r), r.Profile().Stats
}

// started begins to record a process.
func started(t *testing.T, pid int) *record.Recorder {
	t.Helper()
	r, err := record.Start(record.Options{PIDs: []int{pid}, Frequency: 499, Arch: amd64.Arch, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// pictured returns what was recorded.
func pictured(t *testing.T, r *record.Recorder) *picture.Stacks {
	t.Helper()
	names := symbol.New(symbol.Options{})
	defer names.Close()
	return r.Profile().Picture(names)
}
