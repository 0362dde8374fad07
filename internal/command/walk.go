package command

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// threads returns the threads that the flags ask for.
func (s *source) threads(flags *walkFlags) ([]target.Thread, error) {
	threads, err := s.Threads()
	if err != nil || len(flags.tids) == 0 {
		return threads, err
	}
	var list []target.Thread
	for _, th := range threads {
		if slices.Contains(flags.tids, th.ID()) {
			list = append(list, th)
		}
	}
	for _, tid := range flags.tids {
		if !slices.ContainsFunc(list, func(th target.Thread) bool { return th.ID() == tid }) {
			return nil, fmt.Errorf("--tid %d: the process has no such thread", tid)
		}
	}
	return list, nil
}

// walker walks one thread after the other. Several walk at once, each with rows
// of its own.
type walker struct {
	target  *source
	symbols *symbol.Symbolizer
	flags   *walkFlags
	table   *frame.Table
	stack   *frame.Stack      // of the thread that is being walked, in the room of those before
	spots   map[spotKey]*spot // stacks share most of theirs
	texts   int               // bytes of names in spots
	frames  *allowance        // of all walkers
	plugins []Sniffer         // those in the table: they may have names for code
}

// newWalkers makes as many walkers as can work at once on n threads.
func newWalkers(s *source, symbols *symbol.Symbolizer, flags *walkFlags, n int) []*walker {
	plugins := flags.plugins.of(s)
	table := flags.table(s.Arch(), plugins)
	list := make([]*walker, min(n, runtime.GOMAXPROCS(0)))
	frames, searches := flags.allowance(), flags.searches()
	for i := range list {
		list[i] = &walker{target: s, symbols: symbols, flags: flags, table: table, spots: make(map[spotKey]*spot), plugins: plugins, frames: frames}
		table.Share(searches)
		table = table.Clone()
	}
	return list
}

// spotKey is a place in the code that frames run at. A frame that was interrupted
// there and one that called from just before have the same address in block.
type spotKey struct{ pc, block uint64 }

// Bounds on the spots that are kept: how many, and how much text there is of them, bytes.
const (
	maxSpots    = 1 << 14
	maxSpotText = 16 << 20
)

// spot is what is known of a place in the code.
type spot struct {
	at    []symbol.Location
	paths []string // of the modules of at
	outer int      // index in at of the function that contains the code, behind the calls inlined into it
	build string   // build ID of the module
	file  uint64   // link-time address
	text  []string // what is printed of at
}

// block returns the address that a frame's code is looked up with.
func block(f *frame.Frame) uint64 {
	if f.Type() == frame.SigTramp {
		return f.PC() // nobody has called there
	}
	return f.AddressInBlock()
}

// spot finds out what there is to know of the place at which a frame runs.
func (w *walker) spot(f *frame.Frame) *spot {
	key := spotKey{f.PC(), block(f)}
	if s := w.spots[key]; s != nil {
		return s
	}
	s := &spot{at: w.symbols.Locate(w.target.Modules(), key.block)}
	s.outer = len(s.at) - 1
	texts := 0
	for i := range s.at {
		p, path := &s.at[i], ""
		if p.Module != nil {
			path = symbol.Short(p.Module.Path)
		}
		s.paths = append(s.paths, path)
		texts += len(p.Function) + len(p.File) + len(path)
	}
	if m := s.at[s.outer].Module; m != nil {
		s.build = symbol.Short(m.BuildID())
		if _, bias, err := m.Image(); err == nil {
			s.file = key.pc - bias
		}
	}
	if w.texts += 2 * texts; len(w.spots) == maxSpots || w.texts > maxSpotText { // as names, and as what is printed of them
		clear(w.spots)
		w.texts = 2 * texts
	}
	w.spots[key] = s
	return s
}

// name returns what a plug-in calls the code where a frame runs, if nobody else has a name
// for that, or the frame alone. It is not kept with the spot: plug-ins learn names as
// they are asked.
func (w *walker) name(s *spot, f *frame.Frame) (name Symbol, ok bool) {
	return nameOf(w.plugins, f, s.at[s.outer].Function != "")
}

// nameOf returns the first name that one of some plug-ins has for a frame; where its code is
// known by a name, only one for the frame alone.
func nameOf(plugins []Sniffer, f *frame.Frame, known bool) (name Symbol, ok bool) {
	for _, p := range plugins {
		if name, ok = p.Symbol(f); ok && (name.Own || !known) {
			return name, true
		}
	}
	return Symbol{}, false
}

// start makes the walker's stack that of a thread.
func (w *walker) start(th target.Thread) (err error) {
	if w.stack == nil {
		if w.stack, err = frame.New(w.target, th, w.table); err != nil {
			return err
		}
	} else if err = w.stack.Reset(w.target, th); err != nil {
		return err
	}
	w.stack.Limit = w.flags.maxFrames
	w.frames.limit(w.stack)
	return nil
}

// thread walks a thread and calls yield with each of its frames, which returns how much text it
// has written of it, bytes.
func (w *walker) thread(th target.Thread, yield func(*frame.Frame) int) (out thread) {
	out = thread{TID: th.ID(), Name: th.Name(), Frames: []frm{}}
	if w.target.mark != nil {
		defer w.target.mark(th, &out)
	}
	if err := w.start(th); err != nil {
		out.Error = err.Error()
		return out
	}
	if _, runs := th.(target.Runner); runs && !w.flags.once {
		w.stack.Settle() // where that cannot be, the frames say so
	}
	var last *frame.Frame
	share := w.frames.share()
	for f, err := range w.stack.Outward() {
		if err != nil {
			out.Error = err.Error()
			if why := errors.Unwrap(err); why != nil {
				out.detail = why.Error()
			}
			break
		}
		if !share.has(f.Level) {
			break
		}
		if f.Level == deep {
			collectOften()
		}
		last = f
		share.spend(yield(f) / frameText)
	}
	out.MovedOn = w.stack.MovedOn()
	reason := frame.Limit
	if !share.spent {
		reason = last.StopReason()
	}
	out.Stop = reason.String()
	if reason == frame.Limit && w.frames != nil {
		out.Error, out.detail = "stack ends at the usual limit: "+spentText, spentText
		return out
	}
	// Fewer frames on request is no fault of the stack.
	out.whole = reason.Whole() || reason == frame.Limit
	if out.whole {
		out.Error = ""
	}
	return out
}

// plain reports whether nothing is to be said of a frame but where it is.
func (w *walker) plain(f *frame.Frame) bool {
	return f.Type() == frame.Normal && !w.flags.registers && !w.flags.explain && !f.MovedOn() && f.Row().Flags&trad.Guess == 0
}

// appendFrame adds a frame and, before it, the inlined calls that lie over it.
func (w *walker) appendFrame(list []frm, level int, f *frame.Frame) []frm {
	s := w.spot(f)
	name, named := w.name(s, f)
	first := 0
	if t := f.Type(); t != frame.Normal && t != frame.Arch || name.Own {
		first = s.outer
	}
	cfa, known := f.CFA()
	base := frm{Type: f.Type().String(), PC: hex{f.PC(), true}, CFA: hex{cfa, known}, Sniffer: f.Sniffer()}
	for i := first; i < len(s.at); i++ {
		p := &s.at[i]
		x := base
		x.Level = level + i - first
		x.over = i > first
		x.Function, x.File, x.Line, x.args = p.Function, p.File, p.Line, p.Args
		if p.Function != "" {
			x.Offset = p.Offset + f.PC() - block(f)
		}
		if p.Inline {
			x.Type = frame.Inline.String()
		}
		if w.flags.explain {
			x.ID = id(f, p, s.outer-i).String()
		}
		if p.Module != nil {
			x.Module, x.BuildID, x.inFile = s.paths[i], s.build, s.file
		}
		list = append(list, x)
	}
	physical := &list[len(list)-1]
	if named {
		physical.named(&name)
	}
	w.detail(physical, f)
	return list
}

// named gives a frame the name that a plug-in has for it.
func (x *frm) named(name *Symbol) {
	x.Function, x.File, x.Line, x.Offset, x.args = symbol.Short(name.Function), symbol.Short(name.File), name.Line, 0, symbol.ArgsUnknown
	if name.Lo != 0 && name.Lo <= x.PC.v {
		x.Offset = x.PC.v - name.Lo
	}
}

// id returns the ID of a frame, or of the depth-th call inlined into it, at p.
func id(f *frame.Frame, p *symbol.Location, depth int) frame.ID {
	if depth == 0 {
		return f.ID()
	}
	return f.ID().Inlined(depth, p.Entry)
}

// detail adds to a physical frame what --registers and --explain ask for.
func (w *walker) detail(x *frm, f *frame.Frame) {
	a := w.target.Arch()
	row := f.Row()
	x.Guess = row.Flags&trad.Guess != 0
	x.MovedOn = f.MovedOn()
	if w.flags.registers {
		x.Registers = make([]register, 0, len(a.Regs))
		for _, r := range a.Regs {
			x.Registers = append(x.Registers, register{r.Name, f.Register(r.Num).String()})
		}
	}
	if w.flags.explain {
		c := f.Claim()
		e := &explanation{Declined: []decline{}}
		if c.Sniffer != "" {
			e.Row = c.Row.Format(a.RegName)
		}
		for _, d := range c.Declined {
			e.Declined = append(e.Declined, decline{d.Sniffer, d.Reason})
		}
		x.Explain = e
	}
}
