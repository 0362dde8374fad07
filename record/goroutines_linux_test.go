package record_test

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// labelsOf are the labels under which gobusylabels calls its functions.
var labelsOf = map[string]map[string]string{
	"main.steadyBlue":   {"kind": "steady", "tenant": "blue"},
	"main.steadyRed":    {"kind": "steady", "tenant": "red"},
	"main.changingEven": {"kind": "changing", "turn": "even"},
	"main.changingOdd":  {"kind": "changing", "turn": "odd"},
	"main.briefOne":     {"kind": "brief"},
	"main.plain":        {},
}

// Samples of Go's goroutines have their labels and numbers. The function that a sample is in tells
// which labels its goroutine had, and the program's own profile, of the same time, how many have
// them.
func TestGoroutines(t *testing.T) {
	gdbtest.CanRecord(t)
	file := filepath.Join(t.TempDir(), "own.pb.gz")
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gobusylabels", "-ldflags=-s -w"), file)
	r, err := record.Start(record.Options{PIDs: []int{p.PID}, Frequency: 499, Arch: amd64.Arch, Table: func(_ int, a *arch.Arch) *frame.Table { return sniffer.Table(a) }})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	take(t, r, 1500, nil)
	names := symbol.New(symbol.Options{})
	defer names.Close()
	stacks := r.Profile().Picture(names)

	all, known := map[string]int64{}, map[string]int64{} // samples by function, and samples among them with a number and labels
	numbers := map[string]map[int64]bool{}
	for _, s := range stacks.Samples {
		i := slices.IndexFunc(s.Frames, func(f int32) bool { return labelsOf[stacks.Places[f].Function] != nil })
		if i < 0 {
			continue
		}
		function := stacks.Places[s.Frames[i]].Function
		all[function] += s.Values[0]
		number, labels := tagsOf(&s)
		if number == 0 {
			if len(labels) > 0 {
				t.Errorf("%s: labels %v of no goroutine", function, labels)
			}
			continue
		}
		if numbers[function] == nil {
			numbers[function] = map[int64]bool{}
		}
		numbers[function][number] = true
		if len(labels) > 0 {
			known[function] += s.Values[0]
			if !maps.Equal(labels, labelsOf[function]) {
				t.Errorf("%d samples of goroutine %d in %s have the labels %v", s.Values[0], number, function, labels)
			}
		}
	}
	t.Logf("%v, with labels %v", all, known)
	for _, function := range []string{"main.steadyBlue", "main.steadyRed"} {
		if all[function] < 50 || known[function] < all[function]*3/4 {
			t.Errorf("%d of %d samples in %s have labels", known[function], all[function], function)
		}
		if len(numbers[function]) != 1 {
			t.Errorf("%s is in the goroutines %v, want one", function, numbers[function])
		}
	}
	for _, function := range []string{"main.changingEven", "main.changingOdd"} {
		if known[function] < all[function]/4 {
			t.Errorf("%d of %d samples in %s have labels", known[function], all[function], function)
		}
		for n := range numbers[function] {
			if numbers["main.steadyBlue"][n] || numbers["main.briefOne"][n] || numbers["main.plain"][n] {
				t.Errorf("%s and others are in goroutine %d", function, n)
			}
		}
	}
	for n := range numbers["main.briefOne"] {
		if numbers["main.plain"][n] {
			t.Errorf("two functions are in goroutine %d", n)
		}
	}

	if err := p.Exit(t); err != nil {
		t.Fatal(err)
	}
	own := ownShare(t, file)
	blue, red := float64(known["main.steadyBlue"]), float64(known["main.steadyRed"])
	got := blue / (blue + red)
	t.Logf("blue's share is %.3f, by the program itself %.3f of %.0f", got, own.share, own.samples)
	// Both are samples of one thing: four standard deviations of each, and what the program did
	// before and after the recording.
	if off := math.Abs(got - own.share); off > 2/math.Sqrt(blue+red)+2/math.Sqrt(own.samples)+0.02 {
		t.Errorf("blue's share is %.3f, by the program itself %.3f", got, own.share)
	}
}

func tagsOf(s *picture.Sample) (number int64, labels map[string]string) {
	for _, n := range s.Numbers {
		if n.Key == "goroutine" {
			number = n.Value
		}
	}
	labels = map[string]string{}
	for _, x := range s.Texts {
		if x.Key != "thread" {
			labels[x.Key] = x.Value
		}
	}
	return number, labels
}

type share struct{ share, samples float64 }

// ownShare returns the share of the tenant blue among the tenants, by the program's own profile.
func ownShare(t *testing.T, file string) share {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	own, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	var blue, all float64
	for _, s := range own.Sample {
		switch tenant := s.Label["tenant"]; {
		case slices.Equal(tenant, []string{"blue"}):
			blue += float64(s.Value[0])
			fallthrough
		case slices.Equal(tenant, []string{"red"}):
			all += float64(s.Value[0])
		}
	}
	if all < 50 {
		t.Fatalf("the program's own profile has %v samples with labels", all)
	}
	return share{blue / all, all}
}
