//go:build linux

package main

import (
	"bytes"
	"fmt"
	"strings"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	profiles "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sfwalk/sfwalk/picture"
)

// otlp sends profiles by OTLP over HTTP. On the wire, ProfilesData is what an
// ExportProfilesServiceRequest is.
func (s *sender) otlp(stacks *picture.Stacks) error {
	body, err := proto.Marshal(otlpData(stacks, s.pid))
	if err != nil {
		return err
	}
	return s.post(s.url, "application/x-protobuf", bytes.NewReader(body))
}

// otlpData returns stacks as OTLP has them: a profile for each type of value, which share the
// tables of a dictionary.
func otlpData(stacks *picture.Stacks, pid int) *profiles.ProfilesData {
	d := newDictionary(stacks)
	list := make([]*profiles.Profile, len(stacks.Types))
	for i, t := range stacks.Types {
		list[i] = &profiles.Profile{
			SampleType:   d.valueType(t),
			TimeUnixNano: uint64(stacks.Time.UnixNano()), DurationNano: uint64(stacks.Duration),
			PeriodType: d.valueType(stacks.PeriodType), Period: stacks.Period,
		}
	}
	for i := range stacks.Samples {
		s := &stacks.Samples[i]
		stack, attributes := d.stack(s.Frames), d.labels(s)
		for j, value := range s.Values {
			list[j].Samples = append(list[j].Samples, &profiles.Sample{StackIndex: stack, AttributeIndices: attributes, Values: []int64{value}})
		}
	}
	return &profiles.ProfilesData{
		Dictionary: d.ProfilesDictionary,
		ResourceProfiles: []*profiles.ResourceProfiles{{
			Resource:      &resource.Resource{Attributes: []*common.KeyValue{{Key: "process.pid", Value: number(int64(pid))}}},
			ScopeProfiles: []*profiles.ScopeProfiles{{Scope: &common.InstrumentationScope{Name: "sfwalk-profiler"}, Profiles: list}},
		}},
	}
}

func number(n int64) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}}
}

// dictionary are the tables of OTLP profiles. The first entry of each stands for nothing.
type dictionary struct {
	*profiles.ProfilesDictionary
	places []picture.Place
	known  map[string]int32 // entries of all tables, by their table and contents
	maps   map[*picture.Module]int32
}

func newDictionary(stacks *picture.Stacks) *dictionary {
	d := &dictionary{&profiles.ProfilesDictionary{}, stacks.Places, map[string]int32{}, map[*picture.Module]int32{}}
	d.text("")
	d.MappingTable = []*profiles.Mapping{{}}
	d.LocationTable = []*profiles.Location{{}}
	d.FunctionTable = []*profiles.Function{{}}
	d.StackTable = []*profiles.Stack{{}}
	d.LinkTable = []*profiles.Link{{}}
	d.AttributeTable = []*profiles.KeyValueAndUnit{{}}
	return d
}

// entry returns the index of an entry of a table, and adds it if it is not there yet.
func entry[T any](d *dictionary, table *[]T, make func() T, is ...any) int32 {
	key := fmt.Sprintf("%T%q", *table, is)
	i, ok := d.known[key]
	if !ok {
		i = int32(len(*table))
		*table = append(*table, make())
		d.known[key] = i
	}
	return i
}

func (d *dictionary) text(s string) int32 {
	s = strings.ToValidUTF8(s, "\uFFFD") // a name may have any bytes, but no string of Protocol Buffers
	return entry(d, &d.StringTable, func() string { return s }, s)
}

func (d *dictionary) valueType(t picture.Type) *profiles.ValueType {
	return &profiles.ValueType{TypeStrindex: d.text(t.Name), UnitStrindex: d.text(t.Unit)}
}

func (d *dictionary) attribute(key string, value *common.AnyValue) int32 {
	name := d.text(key)
	return entry(d, &d.AttributeTable, func() *profiles.KeyValueAndUnit {
		return &profiles.KeyValueAndUnit{KeyStrindex: name, Value: value}
	}, key, value.String())
}

func (d *dictionary) string(key, value string) int32 {
	value = strings.ToValidUTF8(value, "\uFFFD")
	return d.attribute(key, &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}})
}

// labels returns the labels of a sample, as attributes.
func (d *dictionary) labels(s *picture.Sample) (list []int32) {
	names := map[string]string{"tid": "thread.id", "pid": "process.pid", "thread": "thread.name"} // OpenTelemetry's semantic conventions
	name := func(key string) string {
		if other, ok := names[key]; ok {
			return other
		}
		return key
	}
	for _, t := range s.Texts {
		list = append(list, d.string(name(t.Key), t.Value))
	}
	for _, n := range s.Numbers {
		list = append(list, d.attribute(name(n.Key), number(n.Value)))
	}
	return list
}

// stack returns the index of a stack. Inlined calls are lines of one location.
func (d *dictionary) stack(frames []int32) int32 {
	var locations []int32
	for len(frames) > 0 {
		n := 1
		for n < len(frames) && d.places[frames[n-1]].Inlined {
			n++
		}
		locations = append(locations, d.location(frames[:n]))
		frames = frames[n:]
	}
	return entry(d, &d.StackTable, func() *profiles.Stack { return &profiles.Stack{LocationIndices: locations} }, locations)
}

func (d *dictionary) location(frames []int32) int32 {
	return entry(d, &d.LocationTable, func() *profiles.Location {
		outer := &d.places[frames[len(frames)-1]]
		l := &profiles.Location{Address: outer.Address, MappingIndex: d.mapping(outer.Module)}
		for _, f := range frames {
			p := &d.places[f]
			name, file := p.Shown(), p.File
			function := entry(d, &d.FunctionTable, func() *profiles.Function {
				return &profiles.Function{NameStrindex: d.text(name), FilenameStrindex: d.text(file)}
			}, name, file)
			l.Lines = append(l.Lines, &profiles.Line{FunctionIndex: function, Line: int64(p.Line)})
		}
		return l
	}, frames)
}

func (d *dictionary) mapping(m *picture.Module) int32 {
	if m == nil {
		return 0
	}
	i, ok := d.maps[m]
	if !ok {
		x := &profiles.Mapping{MemoryStart: m.Lo, MemoryLimit: m.Hi, FileOffset: m.Offset, FilenameStrindex: d.text(m.Path)}
		if m.BuildID != "" {
			x.AttributeIndices = []int32{d.string("process.executable.build_id.gnu", m.BuildID)}
		}
		i = int32(len(d.MappingTable))
		d.MappingTable = append(d.MappingTable, x)
		d.maps[m] = i
	}
	return i
}
