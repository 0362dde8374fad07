package picture_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/picture"
)

// reread has pprof's own library read a profile, check it and write it again, and returns the bytes
// of both.
func reread(t *testing.T, s *picture.Stacks) (ours, theirs []byte, p *profile.Profile) {
	t.Helper()
	var out bytes.Buffer
	if err := s.Write(&out, "pprof"); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	if ours, err = io.ReadAll(zip); err != nil {
		t.Fatal(err)
	}
	if p, err = profile.ParseUncompressed(ours); err != nil {
		t.Fatalf("%v\n% x", err, ours)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	var again bytes.Buffer
	if err := p.WriteUncompressed(&again); err != nil {
		t.Fatal(err)
	}
	return ours, again.Bytes(), p
}

// TestPprofBytes holds profiles against what pprof's own library writes for the same.
func TestPprofBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string { return fmt.Sprintf("x%d", random.IntN(n)) }
	for range 200 {
		s := &picture.Stacks{Title: "/bin/x1", Program: "/bin/x1", Types: []picture.Type{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}, {Name: "space", Unit: "bytes"}}}
		s.Types = s.Types[:1+random.IntN(3)]
		if random.IntN(2) == 0 {
			s.Time, s.Duration = time.Unix(1e9+random.Int64N(1e9), 5), time.Duration(random.Int64N(1e12))
			s.PeriodType, s.Period = picture.Type{Name: "cpu", Unit: "nanoseconds"}, 1+random.Int64N(1e8)
		}
		var modules []*picture.Module
		for i := range 3 {
			lo := random.Uint64()
			modules = append(modules, &picture.Module{Path: fmt.Sprint("/bin/x", i), BuildID: text(1000), Lo: lo, Hi: lo + random.Uint64N(1<<20), Offset: random.Uint64N(1 << 20)})
		}
		var samples [][]picture.Place
		for range random.IntN(20) {
			var frames []picture.Place
			for range random.IntN(10) {
				f := picture.Place{Function: text(30), File: text(5), Line: random.IntN(300), Address: random.Uint64(), Module: modules[random.IntN(3)], Inlined: random.IntN(3) == 0}
				switch random.IntN(5) {
				case 0:
					f.Module, f.Name, f.Function = nil, f.Function, ""
				case 1:
					f.Function = ""
				case 2:
					f.File, f.Line = "", 0
				}
				frames = append(frames, f)
			}
			x := picture.Sample{}
			for range s.Types {
				x.Values = append(x.Values, random.Int64()>>random.IntN(64)-3)
			}
			for range random.IntN(3) {
				x.Texts = append(x.Texts, picture.Text{Key: text(3), Value: text(100)})
				x.Numbers = append(x.Numbers, picture.Number{Key: text(3), Value: 1 + random.Int64N(1e9)}) // their reader drops 0
			}
			s.Add(frames, x)
			samples = append(samples, frames)
		}
		ours, theirs, p := reread(t, s)
		if !bytes.Equal(ours, theirs) {
			t.Fatalf("written\n% x\nwritten by pprof's library\n% x\n%v", ours, theirs, p)
		}
		holds(t, s, samples, p)
	}
}

// holds checks that pprof's library has read what was given.
func holds(t *testing.T, s *picture.Stacks, samples [][]picture.Place, p *profile.Profile) {
	t.Helper()
	if len(p.Sample) != len(samples) || p.Period != s.Period || p.DurationNanos != s.Duration.Nanoseconds() || len(p.SampleType) != len(s.Types) {
		t.Fatalf("of %+v became %v", s, p)
	}
	if !s.Time.IsZero() && p.TimeNanos != s.Time.UnixNano() {
		t.Errorf("time %v became %d", s.Time, p.TimeNanos)
	}
	for i, x := range p.Sample {
		given := &s.Samples[i]
		if fmt.Sprint(x.Value) != fmt.Sprint(given.Values) {
			t.Errorf("values %d became %d", given.Values, x.Value)
		}
		texts, numbers := map[string][]string{}, map[string][]int64{}
		for _, l := range given.Texts {
			texts[l.Key] = append(texts[l.Key], l.Value)
		}
		for _, l := range given.Numbers {
			numbers[l.Key] = append(numbers[l.Key], l.Value)
		}
		if got, want := fmt.Sprint(x.Label, x.NumLabel), fmt.Sprint(texts, numbers); got != want {
			t.Errorf("labels %s became %s", want, got)
		}
		var want, got []string
		for j, f := range samples[i] {
			last := !f.Inlined || j+1 == len(samples[i])
			switch {
			case f.Function != "":
				want = append(want, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
			case !inModule(samples[i][j:]):
				want = append(want, fmt.Sprintf("%s %s:%d", orUnknown(f.Name), f.File, f.Line))
			}
			if last {
				path := ""
				if f.Module != nil {
					path = fmt.Sprintf("%s %s %#x-%#x %#x", f.Module.Path, f.Module.BuildID, f.Module.Lo, f.Module.Hi, f.Module.Offset)
				}
				want = append(want, fmt.Sprintf("at %#x in %s", f.Address, path))
			}
		}
		for _, l := range x.Location {
			for _, n := range l.Line {
				got = append(got, fmt.Sprintf("%s %s:%d", n.Function.Name, n.Function.Filename, n.Line))
			}
			path := ""
			if m := l.Mapping; m != nil {
				path = fmt.Sprintf("%s %s %#x-%#x %#x", m.File, m.BuildID, m.Start, m.Limit, m.Offset)
			}
			got = append(got, fmt.Sprintf("at %#x in %s", l.Address, path))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("frames\n%q became\n%q", want, got)
		}
	}
	if len(p.Mapping) > 1 && s.Program != p.Mapping[0].File {
		for _, m := range p.Mapping {
			if m.File == s.Program {
				t.Errorf("the first mapping is %s, not %s", p.Mapping[0].File, s.Program)
			}
		}
	}
}

// inModule says whether the place into which these calls are inlined is in a module.
func inModule(frames []picture.Place) bool {
	for i, f := range frames {
		if !f.Inlined || i+1 == len(frames) {
			return f.Module != nil
		}
	}
	return false
}

func orUnknown(name string) string {
	if name == "" {
		return "??"
	}
	return name
}

// Samples that do not fit the types are refused, as pprof's library refuses them.
func TestPprofRefused(t *testing.T) {
	for _, s := range []*picture.Stacks{
		{Samples: []picture.Sample{{Values: []int64{1}}}},
		{Types: []picture.Type{{Name: "a", Unit: "count"}}, Samples: []picture.Sample{{Values: []int64{1, 2}}}},
		{Types: []picture.Type{{Name: "a", Unit: "count"}}, Samples: []picture.Sample{{}}},
	} {
		if err := s.WritePprof(io.Discard); err == nil {
			t.Errorf("%+v was written", s)
		}
	}
}
