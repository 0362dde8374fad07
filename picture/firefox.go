package picture

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"time"
)

// firefoxVersion is the version of the processed profile format that is written (docs-developer/CHANGELOG-formats.md of the Firefox
// Profiler). profiler.firefox.com brings older versions up to date when it loads them.
const firefoxVersion = 48

type firefoxFile struct {
	Meta    firefoxMeta      `json:"meta"`
	Libs    []firefoxLib     `json:"libs"`
	Threads []*firefoxThread `json:"threads"`
}

type firefoxMeta struct {
	Interval          float64           `json:"interval"`  // milliseconds
	StartTime         float64           `json:"startTime"` // milliseconds since 1970
	ProfilingStart    float64           `json:"profilingStartTime"`
	ProfilingEnd      float64           `json:"profilingEndTime"`
	ProcessType       int               `json:"processType"`
	Categories        []firefoxCategory `json:"categories"`
	Product           string            `json:"product"`
	Stackwalk         int               `json:"stackwalk"`
	Version           int               `json:"version"` // of Gecko's own format
	Preprocessed      int               `json:"preprocessedProfileVersion"`
	Symbolicated      bool              `json:"symbolicated"`
	MarkerSchema      []any             `json:"markerSchema"`
	ImportedFrom      string            `json:"importedFrom"`
	OneStackType      bool              `json:"usesOnlyOneStackType"`
	NoImplementation  bool              `json:"doesNotUseFrameImplementation"`
	NotOnSearchfox    bool              `json:"sourceCodeIsNotOnSearchfox"`
	KeepOrder         bool              `json:"keepProfileThreadOrder"`
	SymbolicationNone bool              `json:"symbolicationNotSupported"`
}

type firefoxCategory struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

type firefoxLib struct {
	Arch       string  `json:"arch"`
	Name       string  `json:"name"`
	Path       string  `json:"path"`
	DebugName  string  `json:"debugName"`
	DebugPath  string  `json:"debugPath"`
	BreakpadID string  `json:"breakpadId"`
	CodeID     *string `json:"codeId"`
}

// A table has its columns' entries in arrays of one length.
type firefoxThread struct {
	ProcessType     string   `json:"processType"`
	ProcessStartup  float64  `json:"processStartupTime"`
	ProcessShutdown *float64 `json:"processShutdownTime"`
	Register        float64  `json:"registerTime"`
	Unregister      *float64 `json:"unregisterTime"`
	Paused          []any    `json:"pausedRanges"`
	Name            string   `json:"name"`
	Main            bool     `json:"isMainThread"`
	ProcessName     string   `json:"processName,omitempty"`
	PID             string   `json:"pid"`
	TID             int64    `json:"tid"`
	Samples         struct {
		Stack      []*int    `json:"stack"`
		Time       []float64 `json:"time"`
		Weight     []float64 `json:"weight"`
		WeightType string    `json:"weightType"`
		Length     int       `json:"length"`
	} `json:"samples"`
	Markers struct {
		Data      []any `json:"data"`
		Name      []any `json:"name"`
		StartTime []any `json:"startTime"`
		EndTime   []any `json:"endTime"`
		Phase     []any `json:"phase"`
		Category  []any `json:"category"`
		Length    int   `json:"length"`
	} `json:"markers"`
	Stacks struct {
		Frame       []int  `json:"frame"`
		Category    []int  `json:"category"`
		Subcategory []int  `json:"subcategory"`
		Prefix      []*int `json:"prefix"`
		Length      int    `json:"length"`
	} `json:"stackTable"`
	Frames struct {
		Address        []int64 `json:"address"` // in the library; -1 if it is not known
		InlineDepth    []int   `json:"inlineDepth"`
		Category       []int   `json:"category"`
		Subcategory    []int   `json:"subcategory"`
		Func           []int   `json:"func"`
		NativeSymbol   []*int  `json:"nativeSymbol"`
		InnerWindow    []*int  `json:"innerWindowID"`
		Implementation []*int  `json:"implementation"`
		Line           []*int  `json:"line"`
		Column         []*int  `json:"column"`
		Length         int     `json:"length"`
	} `json:"frameTable"`
	Strings []string `json:"stringArray"`
	Funcs   struct {
		Name     []int  `json:"name"`
		JS       []bool `json:"isJS"`
		ForJS    []bool `json:"relevantForJS"`
		Resource []int  `json:"resource"` // -1 for none
		File     []*int `json:"fileName"`
		Line     []*int `json:"lineNumber"`
		Column   []*int `json:"columnNumber"`
		Length   int    `json:"length"`
	} `json:"funcTable"`
	Resources struct {
		Lib    []int  `json:"lib"`
		Name   []int  `json:"name"`
		Host   []*int `json:"host"`
		Type   []int  `json:"type"`
		Length int    `json:"length"`
	} `json:"resourceTable"`
	Symbols struct {
		Lib    []int `json:"libIndex"`
		Addr   []int `json:"address"`
		Name   []int `json:"name"`
		Size   []int `json:"functionSize"`
		Length int   `json:"length"`
	} `json:"nativeSymbols"`

	strings   map[string]int
	funcs     map[firefoxFunc]int
	resources map[int]int
	frames    map[[2]int]int // by place and depth
	nodes     map[[2]int]int // by prefix and frame
	now       float64
}

type firefoxFunc struct {
	name, file string
	lib        int
}

// libraryResource is the type of a resource that is a library.
const libraryResource = 1

// WriteFirefox writes a profile for https://profiler.firefox.com, in its processed format: a thread for each thread that the
// samples' labels name. The order of samples in time is not known: each thread's are one after the other, each as long as it counts.
func (s *Stacks) WriteFirefox(out io.Writer) error {
	file := firefoxFile{Libs: []firefoxLib{}, Threads: []*firefoxThread{}}
	file.Meta = firefoxMeta{Interval: 1, Categories: []firefoxCategory{{"Other", "grey", []string{"Other"}}}, Product: s.Title, Stackwalk: 1, Version: 29,
		Preprocessed: firefoxVersion, Symbolicated: true, MarkerSchema: []any{}, ImportedFrom: "sfwalk", OneStackType: true, NoImplementation: true,
		NotOnSearchfox: true, SymbolicationNone: true}
	if !s.Time.IsZero() {
		file.Meta.StartTime = float64(s.Time.UnixNano()) / 1e6
	}
	// The first value that is a time is the weight, else the first one.
	value := max(slices.IndexFunc(s.Types, func(t Type) bool { return t.Unit == "nanoseconds" }), 0)
	timed := value < len(s.Types) && s.Types[value].Unit == "nanoseconds"
	if s.Period > 0 && s.PeriodType.Unit == "nanoseconds" {
		file.Meta.Interval = float64(s.Period) / 1e6
	}
	libs := map[*Module]int{}
	threads := map[[2]int64]*firefoxThread{}
	for i := range s.Samples {
		x := &s.Samples[i]
		pid, tid := x.number("pid"), x.number("tid")
		t := threads[[2]int64{pid, tid}]
		if t == nil {
			t = newFirefoxThread(pid, tid, x)
			threads[[2]int64{pid, tid}] = t
			file.Threads = append(file.Threads, t)
		}
		weight := 0.0
		if value < len(x.Values) {
			weight = float64(x.Values[value])
		}
		length := file.Meta.Interval * weight
		t.Samples.WeightType = "samples"
		if timed {
			weight /= 1e6
			t.Samples.WeightType, length = "tracing-ms", weight
		}
		t.Samples.Stack = append(t.Samples.Stack, t.stack(s, x, func(m *Module) int {
			at, ok := libs[m]
			if !ok {
				at = len(file.Libs)
				libs[m] = at
				file.Libs = append(file.Libs, libOf(m))
			}
			return at
		}))
		t.Samples.Time = append(t.Samples.Time, t.now)
		t.Samples.Weight = append(t.Samples.Weight, weight)
		t.Samples.Length++
		t.now += length
		file.Meta.ProfilingEnd = max(file.Meta.ProfilingEnd, t.now)
	}
	file.Meta.ProfilingEnd = max(file.Meta.ProfilingEnd, float64(s.Duration)/float64(time.Millisecond))
	w := bufio.NewWriter(out)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(&file); err != nil {
		return err
	}
	return w.Flush()
}

func newFirefoxThread(pid, tid int64, x *Sample) *firefoxThread {
	t := &firefoxThread{ProcessType: "default", Paused: []any{}, PID: fmt.Sprint(pid), TID: tid, Main: pid == tid, ProcessName: x.Root, Strings: []string{},
		strings: map[string]int{}, funcs: map[firefoxFunc]int{}, resources: map[int]int{}, frames: map[[2]int]int{}, nodes: map[[2]int]int{}}
	if t.Name = x.text("thread"); t.Name == "" {
		t.Name = fmt.Sprintf("thread %d", tid)
	}
	none := []any{}
	m := &t.Markers
	m.Data, m.Name, m.StartTime, m.EndTime, m.Phase, m.Category = none, none, none, none, none, none
	t.Stacks.Frame, t.Stacks.Category, t.Stacks.Subcategory, t.Stacks.Prefix = []int{}, []int{}, []int{}, []*int{}
	f := &t.Frames
	f.Address, f.InlineDepth, f.Category, f.Subcategory, f.Func = []int64{}, []int{}, []int{}, []int{}, []int{}
	f.NativeSymbol, f.InnerWindow, f.Implementation, f.Line, f.Column = []*int{}, []*int{}, []*int{}, []*int{}, []*int{}
	u := &t.Funcs
	u.Name, u.JS, u.ForJS, u.Resource, u.File, u.Line, u.Column = []int{}, []bool{}, []bool{}, []int{}, []*int{}, []*int{}, []*int{}
	r := &t.Resources
	r.Lib, r.Name, r.Host, r.Type = []int{}, []int{}, []*int{}, []int{}
	y := &t.Symbols
	y.Lib, y.Addr, y.Name, y.Size = []int{}, []int{}, []int{}, []int{}
	return t
}

func libOf(m *Module) firefoxLib {
	name := path.Base(m.Path)
	lib := firefoxLib{Name: name, Path: m.Path, DebugName: name, DebugPath: m.Path}
	if m.BuildID != "" {
		lib.CodeID = &m.BuildID
	}
	return lib
}

// stack returns the index of a sample's stack; nil if it has no frames.
func (t *firefoxThread) stack(s *Stacks, x *Sample, lib func(*Module) int) *int {
	var prefix *int
	depth := 0
	for i := len(x.Frames) - 1; i >= 0; i-- {
		p := &s.Places[x.Frames[i]]
		if depth++; !p.Inlined {
			depth = 0
		}
		frame := t.frame(x.Frames[i], depth, p, lib)
		key := [2]int{-1, frame}
		if prefix != nil {
			key[0] = *prefix
		}
		at, ok := t.nodes[key]
		if !ok {
			at = t.Stacks.Length
			t.nodes[key] = at
			t.Stacks.Frame, t.Stacks.Prefix = append(t.Stacks.Frame, frame), append(t.Stacks.Prefix, prefix)
			t.Stacks.Category, t.Stacks.Subcategory = append(t.Stacks.Category, 0), append(t.Stacks.Subcategory, 0)
			t.Stacks.Length++
		}
		prefix = &at
	}
	return prefix
}

func (t *firefoxThread) frame(place, depth int, p *Place, lib func(*Module) int) int {
	at, ok := t.frames[[2]int{place, depth}]
	if ok {
		return at
	}
	f := &t.Frames
	at = f.Length
	t.frames[[2]int{place, depth}] = at
	address := int64(-1)
	if p.Module != nil {
		address = int64(p.Address - p.Module.Lo + p.Module.Offset)
	}
	f.Address, f.InlineDepth, f.Func = append(f.Address, address), append(f.InlineDepth, depth), append(f.Func, t.function(p, lib))
	f.Category, f.Subcategory = append(f.Category, 0), append(f.Subcategory, 0)
	f.NativeSymbol, f.InnerWindow, f.Implementation = append(f.NativeSymbol, nil), append(f.InnerWindow, nil), append(f.Implementation, nil)
	f.Line, f.Column = append(f.Line, numberOrNone(p.Line)), append(f.Column, nil)
	f.Length++
	return at
}

func (t *firefoxThread) function(p *Place, lib func(*Module) int) int {
	key := firefoxFunc{p.Shown(), p.File, -1}
	if p.Module != nil {
		key.lib = lib(p.Module)
	}
	at, ok := t.funcs[key]
	if ok {
		return at
	}
	u := &t.Funcs
	at = u.Length
	t.funcs[key] = at
	resource := -1
	if p.Module != nil {
		resource = t.resource(key.lib, p.Module)
	}
	var file *int
	if p.File != "" {
		name := t.text(p.File)
		file = &name
	}
	u.Name, u.JS, u.ForJS, u.Resource = append(u.Name, t.text(key.name)), append(u.JS, false), append(u.ForJS, false), append(u.Resource, resource)
	u.File, u.Line, u.Column = append(u.File, file), append(u.Line, nil), append(u.Column, nil)
	u.Length++
	return at
}

func (t *firefoxThread) resource(lib int, m *Module) int {
	at, ok := t.resources[lib]
	if !ok {
		r := &t.Resources
		at = r.Length
		t.resources[lib] = at
		r.Lib, r.Name, r.Host, r.Type = append(r.Lib, lib), append(r.Name, t.text(path.Base(m.Path))), append(r.Host, nil), append(r.Type, libraryResource)
		r.Length++
	}
	return at
}

func (t *firefoxThread) text(s string) int {
	at, ok := t.strings[s]
	if !ok {
		at = len(t.Strings)
		t.strings[s] = at
		t.Strings = append(t.Strings, s)
	}
	return at
}

func numberOrNone(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}

// number returns the value of a label; 0 if there is none.
func (x *Sample) number(key string) int64 {
	for _, n := range x.Numbers {
		if n.Key == key {
			return n.Value
		}
	}
	return 0
}

// text returns the value of a label; "" if there is none.
func (x *Sample) text(key string) string {
	for _, t := range x.Texts {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}
