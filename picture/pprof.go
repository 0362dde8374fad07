package picture

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// WritePprof writes a profile for go tool pprof and all that reads its format (profile.proto),
// compressed by gzip. Its readers print names as they are, so control characters in them are
// escaped, and so is what is no UTF-8. Inlined calls are lines of one location. A mapping has its
// build ID. It is an error if a sample has not one value for each of the Types.
func (s *Stacks) WritePprof(out io.Writer) error {
	if len(s.Types) == 0 && len(s.Samples) > 0 {
		return errors.New("picture: nothing says what the samples' values count")
	}
	b := profile{stacks: s, functions: map[function]int{}, mappings: map[*Module]*mapping{}, locations: map[string]int{}}
	for i := range s.Samples {
		if n := len(s.Samples[i].Values); n != len(s.Types) {
			return fmt.Errorf("picture: sample %d has %d values, but there are %d types", i, n, len(s.Types))
		}
	}
	return b.write(out)
}

// locate appends the IDs of a sample's locations.
func (b *profile) locate(ids []uint64, x *Sample) []uint64 {
	for at := 0; at < len(x.Frames); {
		n := b.stacks.together(x.Frames[at:])
		ids = append(ids, uint64(b.location(x.Frames[at:at+n])))
		at += n
	}
	return ids
}

// together counts the first frames that are at one place of the code: inlined calls, and the frame
// into which they are inlined.
func (s *Stacks) together(frames []int32) int {
	for i, f := range frames {
		if !s.Places[f].Inlined {
			return i + 1
		}
	}
	return len(frames)
}

// profile has the parts of a profile, each once. The ID of a part is its index + 1.
type profile struct {
	stacks *Stacks

	functions    map[function]int // their IDs
	functionList []function
	mappings     map[*Module]*mapping
	mappingList  []*mapping
	locations    map[string]int // the IDs, by the indices of their places
	locationList []location
}

type function struct{ name, file string }

type mapping struct {
	*Module
	id int
	// What is known of some address of it.
	functions, files, lines, inlined bool
}

type location struct {
	mapping *mapping // nil if it is in none
	address uint64
	lines   []line // the innermost call first
}

type line struct {
	function int // its ID
	number   int
}

// location returns the ID of the place of these frames, which are all there.
func (b *profile) location(frames []int32) int {
	var key strings.Builder
	for _, f := range frames {
		for shift := 0; shift < 32; shift += 8 {
			key.WriteByte(byte(f >> shift))
		}
	}
	if id, ok := b.locations[key.String()]; ok {
		return id
	}
	last := &b.stacks.Places[frames[len(frames)-1]]
	l := location{address: last.Address, mapping: b.mapping(last.Module)}
	for _, f := range frames {
		p := &b.stacks.Places[f]
		if p.Function == "" && l.mapping != nil {
			continue // pprof shows the address, and looks for a name itself
		}
		l.lines = append(l.lines, line{b.function(printable.Escape(p.Shown()), printable.Escape(p.File)), p.Line})
		if m := l.mapping; m != nil {
			m.functions = true
			m.files = m.files || p.File != ""
			m.lines = m.lines || p.Line > 0
			m.inlined = m.inlined || p.Inlined
		}
	}
	b.locationList = append(b.locationList, l)
	b.locations[key.String()] = len(b.locationList)
	return len(b.locationList)
}

func (b *profile) function(name, file string) int {
	key := function{name, file}
	if id, ok := b.functions[key]; ok {
		return id
	}
	b.functionList = append(b.functionList, key)
	b.functions[key] = len(b.functionList)
	return len(b.functionList)
}

func (b *profile) mapping(m *Module) *mapping {
	if m == nil {
		return nil
	}
	x, ok := b.mappings[m]
	if !ok {
		x = &mapping{Module: m, id: len(b.mappingList) + 1}
		b.mappings[m] = x
		b.mappingList = append(b.mappingList, x)
	}
	return x
}

// mainFirst puts the mapping of the program first: readers take the first for the program's.
func (b *profile) mainFirst() {
	list := b.mappingList
	for i, m := range list {
		if m.Path == b.stacks.Program {
			list[0], list[i] = list[i], list[0]
			list[0].id, list[i].id = list[i].id, list[0].id
			return
		}
	}
}
