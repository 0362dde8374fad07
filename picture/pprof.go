package picture

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/google/pprof/profile"
)

// WritePprof writes a profile for go tool pprof and all that reads its format (profile.proto),
// compressed by gzip. Inlined calls are lines of one location. A mapping has its build ID.
func (s *Stacks) WritePprof(out io.Writer) error {
	p := &profile.Profile{Period: s.Period, DurationNanos: s.Duration.Nanoseconds()}
	if !s.Time.IsZero() {
		p.TimeNanos = s.Time.UnixNano()
	}
	for _, t := range s.Types {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: t.Name, Unit: t.Unit})
	}
	if s.PeriodType != (Type{}) {
		p.PeriodType = &profile.ValueType{Type: s.PeriodType.Name, Unit: s.PeriodType.Unit}
	}
	b := builder{stacks: s, profile: p, functions: map[function]*profile.Function{}, mappings: map[*Module]*profile.Mapping{}, locations: map[string]*profile.Location{}}
	for i := range s.Samples {
		x := &s.Samples[i]
		sample := &profile.Sample{Value: x.Values}
		for at := 0; at < len(x.Frames); {
			n := s.together(x.Frames[at:])
			sample.Location = append(sample.Location, b.location(x.Frames[at:at+n]))
			at += n
		}
		for _, l := range x.Texts {
			if sample.Label == nil {
				sample.Label = map[string][]string{}
			}
			sample.Label[l.Key] = append(sample.Label[l.Key], utf8Text(l.Value))
		}
		for _, l := range x.Numbers {
			if sample.NumLabel == nil {
				sample.NumLabel = map[string][]int64{}
			}
			sample.NumLabel[l.Key] = append(sample.NumLabel[l.Key], l.Value)
		}
		p.Sample = append(p.Sample, sample)
	}
	b.mainFirst()
	if err := p.CheckValid(); err != nil {
		return err
	}
	return p.Write(out)
}

// together counts the first frames that are at one place of the code: inlined calls, and the frame
// into which they are inlined.
func (s *Stacks) together(frames []int) int {
	for i, f := range frames {
		if !s.Places[f].Inlined {
			return i + 1
		}
	}
	return len(frames)
}

// builder makes the parts of a profile, each once.
type builder struct {
	stacks    *Stacks
	profile   *profile.Profile
	functions map[function]*profile.Function
	mappings  map[*Module]*profile.Mapping
	locations map[string]*profile.Location // by the indices of their places
}

type function struct{ name, file string }

func (b *builder) location(frames []int) *profile.Location {
	var key strings.Builder
	for _, f := range frames {
		for shift := 0; shift < 32; shift += 8 {
			key.WriteByte(byte(f >> shift))
		}
	}
	if l, ok := b.locations[key.String()]; ok {
		return l
	}
	last := &b.stacks.Places[frames[len(frames)-1]]
	l := &profile.Location{ID: uint64(len(b.profile.Location) + 1), Address: last.Address, Mapping: b.mapping(last.Module)}
	for _, f := range frames {
		p := &b.stacks.Places[f]
		if p.Function == "" && l.Mapping != nil {
			continue // pprof shows the address, and looks for a name itself
		}
		l.Line = append(l.Line, profile.Line{Function: b.function(utf8Text(p.shown()), utf8Text(p.File)), Line: int64(p.Line)})
		if m := l.Mapping; m != nil {
			m.HasFunctions = true
			m.HasFilenames = m.HasFilenames || p.File != ""
			m.HasLineNumbers = m.HasLineNumbers || p.Line > 0
			m.HasInlineFrames = m.HasInlineFrames || p.Inlined
		}
	}
	b.locations[key.String()] = l
	b.profile.Location = append(b.profile.Location, l)
	return l
}

func (b *builder) function(name, file string) *profile.Function {
	key := function{name, file}
	f, ok := b.functions[key]
	if !ok {
		f = &profile.Function{ID: uint64(len(b.profile.Function) + 1), Name: name, SystemName: name, Filename: file}
		b.functions[key] = f
		b.profile.Function = append(b.profile.Function, f)
	}
	return f
}

func (b *builder) mapping(m *Module) *profile.Mapping {
	if m == nil {
		return nil
	}
	x, ok := b.mappings[m]
	if !ok {
		x = &profile.Mapping{ID: uint64(len(b.profile.Mapping) + 1), Start: m.Lo, Limit: m.Hi, Offset: m.Offset, File: utf8Text(m.Path), BuildID: utf8Text(m.BuildID)}
		b.mappings[m] = x
		b.profile.Mapping = append(b.profile.Mapping, x)
	}
	return x
}

// mainFirst puts the mapping of the program first: readers take the first for the program's.
func (b *builder) mainFirst() {
	list := b.profile.Mapping
	for i, m := range list {
		if m.File == utf8Text(b.stacks.Title) {
			list[0], list[i] = list[i], list[0]
			list[0].ID, list[i].ID = list[i].ID, list[0].ID
			return
		}
	}
}

// utf8Text returns text as UTF-8, which profile.proto and JSON demand.
func utf8Text(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
