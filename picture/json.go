package picture

import (
	"fmt"
	"io"
	"time"
)

type jsonType struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

type jsonPeriod struct {
	jsonType
	Value int64 `json:"value"`
}

type jsonModule struct {
	Path    string `json:"path"`
	BuildID string `json:"build_id,omitempty"`
	Lo      string `json:"lo"`
	Hi      string `json:"hi"`
	Offset  string `json:"offset"`
}

type jsonPlace struct {
	Function string `json:"function,omitempty"`
	NameFrom string `json:"name_from,omitempty"`
	Name     string `json:"name,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Address  string `json:"address,omitempty"`
	Module   *int   `json:"module,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
	Code     string `json:"code,omitempty"`
}

type jsonSample struct {
	Frames []int32        `json:"frames"`
	Values []int64        `json:"values"`
	Labels map[string]any `json:"labels,omitempty"`
}

// WriteJSON writes all that there is as one JSON object; docs/json.md describes it.
func (s *Stacks) WriteJSON(out io.Writer) error {
	modules := map[*Module]int{}
	var list []*Module
	for i := range s.Places {
		if m := s.Places[i].Module; m != nil {
			if _, ok := modules[m]; !ok {
				modules[m] = len(list)
				list = append(list, m)
			}
		}
	}
	return writeObject(out, func(o *object) {
		if s.Title != "" {
			o.field("title", s.Title)
		}
		if !s.Time.IsZero() {
			o.field("taken", s.Time.UTC().Format(time.RFC3339Nano))
		}
		if s.Duration != 0 {
			o.field("duration_ns", int64(s.Duration))
		}
		o.list("types", len(s.Types), func(i int) any { return jsonType(s.Types[i]) })
		if s.Period > 0 {
			o.field("period", jsonPeriod{jsonType(s.PeriodType), s.Period})
		}
		if s.Lost > 0 {
			o.field("lost", s.Lost)
		}
		o.list("modules", len(list), func(i int) any {
			m := list[i]
			return jsonModule{m.Path, m.BuildID, hex(m.Lo), hex(m.Hi), hex(m.Offset)}
		})
		o.list("places", len(s.Places), func(i int) any {
			place := s.Places[i].json(modules)
			place.Code = codes[s.code(&s.Places[i])].name
			return place
		})
		o.list("samples", len(s.Samples), func(i int) any { return s.Samples[i].json() })
	})
}

func (p *Place) json(modules map[*Module]int) jsonPlace {
	j := jsonPlace{Function: p.Function, NameFrom: p.NameFrom, File: p.File, Line: max(p.Line, 0), Inlined: p.Inlined}
	if p.Function == "" {
		j.Name = p.Shown()
	}
	if p.Address != 0 {
		j.Address = hex(p.Address)
	}
	if at, ok := modules[p.Module]; ok {
		j.Module = &at
	}
	return j
}

func (x *Sample) json() jsonSample {
	j := jsonSample{Frames: x.Frames, Values: x.Values, Labels: map[string]any{}}
	if j.Frames == nil {
		j.Frames = []int32{}
	}
	for _, t := range x.Texts {
		j.Labels[t.Key] = t.Value
	}
	for _, n := range x.Numbers {
		j.Labels[n.Key] = n.Value
	}
	return j
}

func hex(n uint64) string { return fmt.Sprintf("%#x", n) }
