package picture

import "time"

// Stacks are the stacks of one picture. The zero value has none.
type Stacks struct {
	Title string // shown with the picture, such as the path of the program
	// Program is the path of the module that pprof has the profile named after; "" if none is the
	// main one.
	Program string
	// Types say what the values of a Sample count; at least one. Formats that show one value show
	// the first.
	Types []Type
	// Time is when the first stack was taken, Duration how long it took until the last was. Either
	// may be 0.
	Time     time.Time
	Duration time.Duration
	// Period is the number of events of PeriodType between two samples; 0 where none were sampled.
	PeriodType Type
	Period     int64
	Lost       uint64 // samples that were lost

	// MaxText bounds the bytes of the formats that repeat names: folded, firefox and flamegraph; 0
	// is no bound. A name can stand in a hundred thousand stacks. Write leaves the rest out, and
	// says so in LeftOut, which is "" if all is there.
	MaxText int64
	LeftOut string

	Places  []Place // the frames of all samples, each once
	Samples []Sample

	index map[Place]int
}

// Type is what a value counts, as pprof has it: {"threads", "count"}, {"cpu", "nanoseconds"}.
type Type struct{ Name, Unit string }

// Place is where a frame is. Frames at one place are equal.
type Place struct {
	Function string // "" if it is not known
	NameFrom string // of which table Function is made; "" if it is the function's own name
	Name     string // what to show where Function is ""; also for humans' eyes: "libc.so.6+0x1234"
	File     string // of the source; "" if it is not known
	Line     int    // 0 if it is not known
	// Address is the address of the call, or of the interrupted instruction; 0 if it is not known.
	// It is in Module.
	Address uint64
	Module  *Module // nil if the address is in none
	// Inlined says that the call is inlined into the frame that follows, which has the same
	// Address.
	Inlined bool
	Code    Code // whose code it is
}

// Shown returns the name of a frame for people: its function, or else its Name.
func (p *Place) Shown() string {
	switch {
	case p.Function != "":
		return p.Function
	case p.Name != "":
		return p.Name
	}
	return "??"
}

// Module is a mapped file.
type Module struct {
	Path    string
	BuildID string // in hexadecimal, or ""
	// Lo and Hi are the first address of its code, and the one behind the last; Offset is where Lo
	// is in the file.
	Lo, Hi, Offset uint64
}

// Sample is a stack that was found, with its values and labels.
type Sample struct {
	Frames  []int32 // indices of Places, the innermost first
	Values  []int64
	Texts   []Text   // labels, such as {"thread", "worker"}
	Numbers []Number // labels, such as {"tid", 4242}
	Root    string   // what the formats without labels show around the stack, such as the process; "" for nothing
}

// Text is a label.
type Text struct{ Key, Value string }

// Number is a label.
type Number struct {
	Key   string
	Value int64
}

// Add adds a sample with these frames, the innermost first. It sets sample.Frames: leave that
// empty.
func (s *Stacks) Add(frames []Place, sample Sample) {
	if s.index == nil {
		s.index = map[Place]int{}
	}
	sample.Frames = make([]int32, len(frames))
	for i, p := range frames {
		at, ok := s.index[p]
		if !ok {
			at = len(s.Places)
			s.index[p] = at
			s.Places = append(s.Places, p)
		}
		sample.Frames[i] = int32(at)
	}
	s.Samples = append(s.Samples, sample)
}

// value is the first value of a sample.
func (x *Sample) value() int64 {
	if len(x.Values) == 0 {
		return 0
	}
	return x.Values[0]
}
