package logical

import (
	"iter"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// View makes logical frames. It keeps what it has found out about code, for threads run in much the
// same code. One View serves one process, and one goroutine at a time.
type View struct {
	arch    *arch.Arch
	modules *target.Modules
	symbols *symbol.Symbolizer

	// Name returns a name that no file has for a physical frame or its code, such as a plug-in's.
	// known says that a file has a name for the code. A name for the frame alone replaces that, and
	// the calls inlined there. Name may be nil.
	Name func(f *frame.Frame, known bool) (Name, bool)

	codes map[codeKey]*Code
	size  int // bytes that codes take
	last  struct {
		key  codeKey
		code *Code
	}
}

// Name is a name for a frame, or for its code.
type Name struct {
	FrameOnly bool   // the name is for one frame; else it is for code
	Lo        uint64 // run-time address at which the code begins; 0 if not known
	Function  string
	File      string // "" if not known
	Line      int    // from 1; 0 if not known
}

// New returns a View of a target's stacks. When the target has run, and may have mapped other
// files, make a new one. If symbols is nil, the physical frames are shown alone, without names.
func New(t target.Target, symbols *symbol.Symbolizer) *View {
	return &View{arch: t.Arch(), modules: t.Modules(), symbols: symbols, codes: make(map[codeKey]*Code)}
}

// All yields the logical frames of a stack, from the innermost outwards, as [frame.Stack.All] does:
// each when it is asked for. If the stack ends early, the last pair has the error, and a Frame that
// must not be used.
func (v *View) All(s *frame.Stack) iter.Seq2[Frame, error] { return v.each(s.All()) }

// AllOnce yields the same frames as [View.All], and drops them, as [frame.Stack.AllOnce] does: call
// it for stacks of any depth, so that memory does not grow with the depth. A frame may be used
// until the next one is yielded.
func (v *View) AllOnce(s *frame.Stack) iter.Seq2[Frame, error] { return v.each(s.AllOnce()) }

func (v *View) each(stack iter.Seq2[*frame.Frame, error]) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		var room []Frame
		level := 0
		for f, err := range stack {
			if err != nil {
				yield(Frame{}, err)
				return
			}
			room = v.Append(room[:0], level, f)
			for i := range room {
				if !yield(room[i], nil) {
					return
				}
			}
			level += len(room)
		}
	}
}

// Append appends the logical frames that f stands for: the functions that left by a tail call after
// f had called them, then the calls that are inlined in f, then f itself. The first has the level
// given. Call Append if you go through the physical frames yourself, and while [frame.Frame.Next]
// is there.
func (v *View) Append(list []Frame, level int, f *frame.Frame) []Frame {
	before := len(list)
	list = v.AppendTailCalls(list, level, f)
	return v.AppendOwn(list, level+len(list)-before, f)
}

// AppendOwn is [View.Append] without the frames that left by tail calls: what is on the stack, with
// its inlined calls.
func (v *View) AppendOwn(list []Frame, level int, f *frame.Frame) []Frame {
	code := v.Code(f)
	outer := len(code.At) - 1
	var name Name
	named := false
	if v.Name != nil {
		name, named = v.Name(f, code.At[outer].Named())
	}
	first := 0
	if t := f.Type(); t != frame.Normal && t != frame.OtherStack || named && name.FrameOnly {
		first = outer
	}
	for i := first; i <= outer; i++ {
		x := Frame{Location: code.At[i], Type: f.Type(), Level: level + i - first, PC: f.PC(), AddressInBlock: block(f), Physical: f, depth: outer - i, Over: i > first}
		if x.Inline {
			x.Type = frame.Inline
		}
		list = append(list, x)
	}
	x := &list[len(list)-1]
	x.Calls = v.tailCalls(f)
	if named {
		x.Function, x.NameFrom, x.File, x.Dir, x.Line = symbol.Truncate(name.Function), "", symbol.Truncate(name.File), "", name.Line
		x.Start, x.End, x.Entry, x.Offset, x.Args = name.Lo, 0, 0, 0, symbol.ArgsUnknown
		if name.Lo != 0 && name.Lo <= x.AddressInBlock {
			x.Offset = x.AddressInBlock - name.Lo
		}
	}
	return list
}

// block returns an address inside the block that f executes: PC-1 for a caller, whose PC is behind
// the call.
func block(f *frame.Frame) uint64 {
	if f.Type() == frame.SigTramp {
		return f.PC() // the kernel has planted it, no call is before
	}
	return f.AddressInBlock()
}
