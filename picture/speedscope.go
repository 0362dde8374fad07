package picture

import (
	"io"
	"slices"
)

// schema names the format (speedscope's src/lib/file-format-spec.ts).
const schema = "https://www.speedscope.app/file-format-schema.json"

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// units are speedscope's units, by pprof's. speedscope shows other units as plain numbers.
var units = map[string]string{"nanoseconds": "nanoseconds", "microseconds": "microseconds", "milliseconds": "milliseconds", "seconds": "seconds", "bytes": "bytes"}

// WriteSpeedscope writes a document for https://www.speedscope.app: a sampled profile for each type
// of value.
func (s *Stacks) WriteSpeedscope(out io.Writer) error {
	known := map[speedscopeFrame]int{}
	var frames []speedscopeFrame
	frame := func(f speedscopeFrame) int {
		at, ok := known[f]
		if !ok {
			at = len(frames)
			known[f] = at
			frames = append(frames, f)
		}
		return at
	}
	places := make([]int, len(s.Places))
	for i := range s.Places {
		p := &s.Places[i]
		places[i] = frame(speedscopeFrame{p.Shown(), p.File, max(p.Line, 0)})
	}
	roots := map[string]int{}
	for i := range s.Samples {
		if root := s.Samples[i].Root; root != "" {
			roots[root] = frame(speedscopeFrame{Name: root})
		}
	}
	room := []int{}
	// stack returns the frames of a sample, the outermost first. They are valid until it is called
	// again.
	stack := func(x *Sample) []int {
		room = room[:0]
		if x.Root != "" {
			room = append(room, roots[x.Root])
		}
		for _, f := range slices.Backward(x.Frames) {
			room = append(room, places[f])
		}
		return room
	}
	return writeObject(out, func(o *object) {
		o.field("$schema", schema)
		o.field("shared", func(o *object) { o.list("frames", len(frames), func(i int) any { return frames[i] }) })
		o.list("profiles", len(s.Types), func(i int) any {
			return func(o *object) {
				unit := units[s.Types[i].Unit]
				if unit == "" {
					unit = "none"
				}
				total := int64(0)
				for j := range s.Samples {
					total += s.Samples[j].of(i)
				}
				o.field("type", "sampled")
				o.field("name", s.Types[i].Name)
				o.field("unit", unit)
				o.field("startValue", 0)
				o.field("endValue", total)
				o.list("samples", len(s.Samples), func(j int) any { return stack(&s.Samples[j]) })
				o.list("weights", len(s.Samples), func(j int) any { return s.Samples[j].of(i) })
			}
		})
		if s.Title != "" {
			o.field("name", s.Title)
		}
		o.field("activeProfileIndex", 0)
		o.field("exporter", "sfwalk")
	})
}

// of returns the value of a type, by its index.
func (x *Sample) of(i int) int64 {
	if i < len(x.Values) {
		return x.Values[i]
	}
	return 0
}
