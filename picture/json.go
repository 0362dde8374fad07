package picture

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

type jsonFile struct {
	Title    string       `json:"title,omitempty"`
	Taken    string       `json:"taken,omitempty"`
	Duration int64        `json:"duration_ns,omitempty"`
	Types    []jsonType   `json:"types"`
	Period   *jsonPeriod  `json:"period,omitempty"`
	Modules  []jsonModule `json:"modules"`
	Places   []jsonPlace  `json:"places"`
	Samples  []jsonSample `json:"samples"`
}

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
	Name     string `json:"name,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Address  string `json:"address,omitempty"`
	Module   *int   `json:"module,omitempty"`
	Inlined  bool   `json:"inlined,omitempty"`
}

type jsonSample struct {
	Frames []int          `json:"frames"`
	Values []int64        `json:"values"`
	Labels map[string]any `json:"labels,omitempty"`
}

// WriteJSON writes all that there is as one JSON object; docs/json.md describes it.
func (s *Stacks) WriteJSON(out io.Writer) error {
	file := jsonFile{Title: s.Title, Duration: int64(s.Duration), Types: []jsonType{}, Modules: []jsonModule{}, Places: []jsonPlace{}, Samples: []jsonSample{}}
	if !s.Time.IsZero() {
		file.Taken = s.Time.UTC().Format(time.RFC3339Nano)
	}
	for _, t := range s.Types {
		file.Types = append(file.Types, jsonType(t))
	}
	if s.Period > 0 {
		file.Period = &jsonPeriod{jsonType(s.PeriodType), s.Period}
	}
	modules := map[*Module]int{}
	for i := range s.Places {
		p := &s.Places[i]
		j := jsonPlace{Function: p.Function, File: p.File, Line: max(p.Line, 0), Inlined: p.Inlined}
		if p.Function == "" {
			j.Name = p.Shown()
		}
		if p.Address != 0 {
			j.Address = hex(p.Address)
		}
		if m := p.Module; m != nil {
			at, ok := modules[m]
			if !ok {
				at = len(file.Modules)
				modules[m] = at
				file.Modules = append(file.Modules, jsonModule{m.Path, m.BuildID, hex(m.Lo), hex(m.Hi), hex(m.Offset)})
			}
			j.Module = &at
		}
		file.Places = append(file.Places, j)
	}
	for i := range s.Samples {
		x := &s.Samples[i]
		j := jsonSample{Frames: x.Frames, Values: x.Values, Labels: map[string]any{}}
		if j.Frames == nil {
			j.Frames = []int{}
		}
		for _, t := range x.Texts {
			j.Labels[t.Key] = t.Value
		}
		for _, n := range x.Numbers {
			j.Labels[n.Key] = n.Value
		}
		file.Samples = append(file.Samples, j)
	}
	w := bufio.NewWriter(out)
	if err := json.NewEncoder(w).Encode(&file); err != nil {
		return err
	}
	return w.Flush()
}

func hex(n uint64) string { return fmt.Sprintf("%#x", n) }
