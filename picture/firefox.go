package picture

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// firefoxVersion is the version of the processed profile format that is written
// (docs-developer/CHANGELOG-formats.md of the Firefox Profiler). profiler.firefox.com brings older
// versions up to date when it loads them.
const firefoxVersion = 48

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
	ProcessType     string
	ProcessStartup  float64
	ProcessShutdown *float64
	Register        float64
	Unregister      *float64
	Paused          []any
	Name            string
	Main            bool
	ProcessName     string
	PID             string
	TID             int64
	Samples         struct {
		Stack      indices   `json:"stack"`
		Time       []float64 `json:"time"`
		Weight     []float64 `json:"weight"`
		WeightType string    `json:"weightType"`
		Length     int       `json:"length"`
	}
	Markers struct {
		Data      []any `json:"data"`
		Name      []any `json:"name"`
		StartTime []any `json:"startTime"`
		EndTime   []any `json:"endTime"`
		Phase     []any `json:"phase"`
		Category  []any `json:"category"`
		Length    int   `json:"length"`
	}
	Stacks struct {
		Frame       indices `json:"frame"`
		Category    same    `json:"category"`
		Subcategory same    `json:"subcategory"`
		Prefix      indices `json:"prefix"`
		Length      int     `json:"length"`
	}
	Frames struct {
		Address        []int64 `json:"address"` // in the library; -1 if it is not known
		InlineDepth    indices `json:"inlineDepth"`
		Category       same    `json:"category"`
		Subcategory    same    `json:"subcategory"`
		Func           indices `json:"func"`
		NativeSymbol   same    `json:"nativeSymbol"`
		InnerWindow    same    `json:"innerWindowID"`
		Implementation same    `json:"implementation"`
		Line           indices `json:"line"`
		Column         same    `json:"column"`
		Length         int     `json:"length"`
	}
	Strings []string
	Funcs   struct {
		Name     []int  `json:"name"`
		JS       []bool `json:"isJS"`
		ForJS    []bool `json:"relevantForJS"`
		Resource []int  `json:"resource"` // -1 for none
		File     []*int `json:"fileName"`
		Line     []*int `json:"lineNumber"`
		Column   []*int `json:"columnNumber"`
		Length   int    `json:"length"`
	}
	Resources struct {
		Lib    []int  `json:"lib"`
		Name   []int  `json:"name"`
		Host   []*int `json:"host"`
		Type   []int  `json:"type"`
		Length int    `json:"length"`
	}
	Symbols struct {
		Lib    []int `json:"libIndex"`
		Addr   []int `json:"address"`
		Name   []int `json:"name"`
		Size   []int `json:"functionSize"`
		Length int   `json:"length"`
	}

	strings   map[string]int
	funcs     map[firefoxFunc]int
	resources map[int]int
	frames    map[[2]int]int     // by place and depth
	nodes     map[[2]int32]int32 // by prefix and frame
}

type firefoxFunc struct {
	name, file string
	lib        int
}

// libraryResource is the type of a resource that is a library.
const libraryResource = 1

// WriteFirefox writes a profile for https://profiler.firefox.com, in its processed format: a thread
// for each thread that the samples' labels name. The order of samples in time is not known: each
// thread's are one after the other, each as long as it counts.
func (s *Stacks) WriteFirefox(out io.Writer) error {
	meta := firefoxMeta{Interval: 1, Categories: []firefoxCategory{{"Other", "grey", []string{"Other"}}}, Product: s.Title, Stackwalk: 1, Version: 29,
		Preprocessed: firefoxVersion, Symbolicated: true, MarkerSchema: []any{}, ImportedFrom: "sfwalk", OneStackType: true, NoImplementation: true,
		NotOnSearchfox: true, SymbolicationNone: true}
	if !s.Time.IsZero() {
		meta.StartTime = float64(s.Time.UnixNano()) / 1e6
	}
	// The first value that is a time is the weight, else the first one.
	value := max(slices.IndexFunc(s.Types, func(t Type) bool { return t.Unit == "nanoseconds" }), 0)
	timed := value < len(s.Types) && s.Types[value].Unit == "nanoseconds"
	if s.Period > 0 && s.PeriodType.Unit == "nanoseconds" {
		meta.Interval = float64(s.Period) / 1e6
	}
	libs := map[*Module]int{}
	var list []*Module
	for i := range s.Places {
		if m := s.Places[i].Module; m != nil {
			if _, ok := libs[m]; !ok {
				libs[m] = len(list)
				list = append(list, m)
			}
		}
	}
	threads := map[[2]int64]int{}
	var samples [][]int // of each thread
	for i := range s.Samples {
		id := [2]int64{s.Samples[i].number("pid"), s.Samples[i].number("tid")}
		at, ok := threads[id]
		if !ok {
			at = len(samples)
			threads[id], samples = at, append(samples, nil)
		}
		samples[at] = append(samples[at], i)
	}
	weight := func(x *Sample) (weight, length float64) { // length is how long it counts, milliseconds
		weight = float64(x.of(value))
		if timed {
			weight /= 1e6
			return weight, weight
		}
		return weight, meta.Interval * weight
	}
	meta.ProfilingEnd = float64(s.Duration) / float64(time.Millisecond)
	for _, of := range samples {
		end := 0.0
		for _, i := range of {
			_, length := weight(&s.Samples[i])
			end += length
		}
		meta.ProfilingEnd = max(meta.ProfilingEnd, end)
	}
	return writeObject(out, func(o *object) {
		o.field("meta", meta)
		o.list("libs", len(list), func(i int) any { return libOf(list[i]) })
		s.LeftOut = ""
		left := s.MaxText
		o.list("threads", len(samples), func(at int) any { // one of them is in memory at a time
			if s.MaxText > 0 && left < 0 {
				s.LeftOut = fmt.Sprintf("%d of %d threads are left out: all are more than %d bytes of text", len(samples)-at, len(samples), s.MaxText)
				return nil
			}
			t := newFirefoxThread(&s.Samples[samples[at][0]])
			t.Samples.WeightType = "samples"
			if timed {
				t.Samples.WeightType = "tracing-ms"
			}
			now := 0.0
			for _, i := range samples[at] {
				x := &s.Samples[i]
				weight, length := weight(x)
				t.Samples.Stack = append(t.Samples.Stack, t.stack(s, x, libs))
				t.Samples.Time = append(t.Samples.Time, now)
				t.Samples.Weight = append(t.Samples.Weight, weight)
				t.Samples.Length++
				now += length
			}
			for _, text := range t.Strings {
				left -= int64(len(text))
			}
			return t.write
		})
	})
}

// indices are indices of a table's rows, or numbers; -1 stands for null.
type indices []int32

// MarshalJSON implements [json.Marshaler].
func (x indices) MarshalJSON() ([]byte, error) {
	text := []byte{'['}
	for i, n := range x {
		if i > 0 {
			text = append(text, ',')
		}
		if n < 0 {
			text = append(text, "null"...)
		} else {
			text = strconv.AppendInt(text, int64(n), 10)
		}
	}
	return append(text, ']'), nil
}

// same is an array with the same element so many times.
type same struct {
	element string
	n       *int
}

// MarshalJSON implements [json.Marshaler].
func (x same) MarshalJSON() ([]byte, error) {
	return []byte("[" + strings.TrimSuffix(strings.Repeat(x.element+",", *x.n), ",") + "]"), nil
}

// newFirefoxThread returns the thread of a sample.
func newFirefoxThread(x *Sample) *firefoxThread {
	pid, tid := x.number("pid"), x.number("tid")
	t := &firefoxThread{ProcessType: "default", Paused: []any{}, PID: fmt.Sprint(pid), TID: tid, Main: pid == tid, ProcessName: x.Root, Strings: []string{},
		strings: map[string]int{}, funcs: map[firefoxFunc]int{}, resources: map[int]int{}, frames: map[[2]int]int{}, nodes: map[[2]int32]int32{}}
	if t.Name = x.text("thread"); t.Name == "" {
		t.Name = fmt.Sprintf("thread %d", tid)
	}
	none := []any{}
	m := &t.Markers
	m.Data, m.Name, m.StartTime, m.EndTime, m.Phase, m.Category = none, none, none, none, none, none
	k := &t.Stacks
	k.Category = same{"0", &k.Length}
	k.Subcategory = k.Category
	f := &t.Frames
	f.Address, f.Category, f.NativeSymbol = []int64{}, same{"0", &f.Length}, same{"null", &f.Length}
	f.Subcategory, f.InnerWindow, f.Implementation, f.Column = f.Category, f.NativeSymbol, f.NativeSymbol, f.NativeSymbol
	u := &t.Funcs
	u.Name, u.JS, u.ForJS, u.Resource, u.File, u.Line, u.Column = []int{}, []bool{}, []bool{}, []int{}, []*int{}, []*int{}, []*int{}
	r := &t.Resources
	r.Lib, r.Name, r.Host, r.Type = []int{}, []int{}, []*int{}, []int{}
	y := &t.Symbols
	y.Lib, y.Addr, y.Name, y.Size = []int{}, []int{}, []int{}, []int{}
	return t
}

// write writes the fields: a thread can have names of many megabytes, so they are not in memory
// once more as one text.
func (t *firefoxThread) write(o *object) {
	o.field("processType", t.ProcessType)
	o.field("processStartupTime", t.ProcessStartup)
	o.field("processShutdownTime", t.ProcessShutdown)
	o.field("registerTime", t.Register)
	o.field("unregisterTime", t.Unregister)
	o.field("pausedRanges", t.Paused)
	o.field("name", t.Name)
	o.field("isMainThread", t.Main)
	if t.ProcessName != "" {
		o.field("processName", t.ProcessName)
	}
	o.field("pid", t.PID)
	o.field("tid", t.TID)
	o.field("samples", t.Samples)
	o.field("markers", t.Markers)
	o.field("stackTable", t.Stacks)
	o.field("frameTable", t.Frames)
	o.list("stringArray", len(t.Strings), func(i int) any { return t.Strings[i] })
	o.field("funcTable", t.Funcs)
	o.field("resourceTable", t.Resources)
	o.field("nativeSymbols", t.Symbols)
}

func libOf(m *Module) firefoxLib {
	name := path.Base(m.Path)
	lib := firefoxLib{Name: name, Path: m.Path, DebugName: name, DebugPath: m.Path}
	if m.BuildID != "" {
		lib.CodeID = &m.BuildID
	}
	return lib
}

// stack returns the index of a sample's stack; -1 if it has no frames.
func (t *firefoxThread) stack(s *Stacks, x *Sample, libs map[*Module]int) int32 {
	prefix := int32(-1)
	depth := 0
	for _, f := range slices.Backward(x.Frames) {
		p := &s.Places[f]
		if depth++; !p.Inlined {
			depth = 0
		}
		key := [2]int32{prefix, int32(t.frame(int(f), depth, p, libs))}
		at, ok := t.nodes[key]
		if !ok {
			at = int32(t.Stacks.Length)
			t.nodes[key] = at
			t.Stacks.Frame, t.Stacks.Prefix = append(t.Stacks.Frame, key[1]), append(t.Stacks.Prefix, prefix)
			t.Stacks.Length++
		}
		prefix = at
	}
	return prefix
}

func (t *firefoxThread) frame(place, depth int, p *Place, libs map[*Module]int) int {
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
	line := int32(-1)
	if p.Line > 0 {
		line = int32(min(p.Line, math.MaxInt32))
	}
	f.Address, f.InlineDepth, f.Func = append(f.Address, address), append(f.InlineDepth, int32(depth)), append(f.Func, int32(t.function(p, libs)))
	f.Line = append(f.Line, line)
	f.Length++
	return at
}

func (t *firefoxThread) function(p *Place, libs map[*Module]int) int {
	key := firefoxFunc{p.Shown(), p.File, -1}
	if p.Module != nil {
		key.lib = libs[p.Module]
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
