package picture

import (
	"bufio"
	"encoding/json"
	"io"
)

// schema names the format (speedscope's src/lib/file-format-spec.ts).
const schema = "https://www.speedscope.app/file-format-schema.json"

type speedscopeFile struct {
	Schema             string              `json:"$schema"`
	Shared             speedscopeShared    `json:"shared"`
	Profiles           []speedscopeProfile `json:"profiles"`
	Name               string              `json:"name,omitempty"`
	ActiveProfileIndex int                 `json:"activeProfileIndex"`
	Exporter           string              `json:"exporter"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

type speedscopeProfile struct {
	Type       string  `json:"type"`
	Name       string  `json:"name"`
	Unit       string  `json:"unit"`
	StartValue int64   `json:"startValue"`
	EndValue   int64   `json:"endValue"`
	Samples    [][]int `json:"samples"` // indices of frames, the outermost first
	Weights    []int64 `json:"weights"`
}

// units are those of speedscope, for those of pprof. It shows others as plain numbers.
var units = map[string]string{"nanoseconds": "nanoseconds", "microseconds": "microseconds", "milliseconds": "milliseconds", "seconds": "seconds", "bytes": "bytes"}

// WriteSpeedscope writes a document for https://www.speedscope.app: a sampled profile for each type of
// value.
func (s *Stacks) WriteSpeedscope(out io.Writer) error {
	file := speedscopeFile{Schema: schema, Name: s.Title, Exporter: "sfwalk", Shared: speedscopeShared{Frames: []speedscopeFrame{}}, Profiles: []speedscopeProfile{}}
	known := map[speedscopeFrame]int{}
	frame := func(f speedscopeFrame) int {
		at, ok := known[f]
		if !ok {
			at = len(file.Shared.Frames)
			known[f] = at
			file.Shared.Frames = append(file.Shared.Frames, f)
		}
		return at
	}
	places := make([]int, len(s.Places))
	for i := range s.Places {
		p := &s.Places[i]
		places[i] = frame(speedscopeFrame{p.Shown(), p.File, max(p.Line, 0)})
	}
	samples := make([][]int, len(s.Samples))
	for i := range s.Samples {
		x := &s.Samples[i]
		stack := make([]int, 0, len(x.Frames)+1)
		if x.Root != "" {
			stack = append(stack, frame(speedscopeFrame{Name: x.Root}))
		}
		for j := len(x.Frames) - 1; j >= 0; j-- {
			stack = append(stack, places[x.Frames[j]])
		}
		samples[i] = stack
	}
	for i, t := range s.Types {
		p := speedscopeProfile{Type: "sampled", Name: t.Name, Unit: units[t.Unit], Samples: samples, Weights: make([]int64, len(samples))}
		if p.Unit == "" {
			p.Unit = "none"
		}
		for j := range s.Samples {
			if v := s.Samples[j].Values; i < len(v) {
				p.Weights[j] = v[i]
				p.EndValue += v[i]
			}
		}
		file.Profiles = append(file.Profiles, p)
	}
	w := bufio.NewWriter(out)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(&file); err != nil {
		return err
	}
	return w.Flush()
}
