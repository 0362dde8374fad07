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

// walker walks one thread after the other. Several walkers work at the same time, each with
// its own cache of rows.
type walker struct {
	target  *source
	symbols *symbol.Symbolizer
	flags   *walkFlags
	table   *frame.Table
	stack   *frame.Stack          // of the thread that is being walked; its memory is used again for the next
	codes   map[codeKey]*codeInfo // threads run in much the same code
	texts   int                   // bytes of names in codes
	frames  *allowance            // shared by all walkers
	plugins []Sniffer             // of the table: they may have names for code
}

// newWalkers returns as many walkers as can work on n threads at the same time.
func newWalkers(s *source, symbols *symbol.Symbolizer, flags *walkFlags, n int) []*walker {
	plugins := flags.plugins.of(s)
	table := flags.table(s.Arch(), plugins)
	list := make([]*walker, min(n, runtime.GOMAXPROCS(0)))
	frames, searches := flags.allowance(), flags.searches()
	for i := range list {
		list[i] = &walker{target: s, symbols: symbols, flags: flags, table: table, codes: make(map[codeKey]*codeInfo), plugins: plugins, frames: frames}
		table.ShareSearches(searches)
		table = table.Clone()
	}
	return list
}

// codeKey is the PC of a frame and its address in block. Two frames can share the latter but not
// the PC: one that was interrupted at that address, and one whose call ends with that byte.
type codeKey struct{ pc, block uint64 }

// Bounds on walker.codes: its entries, and the bytes of their text.
const (
	maxCodes    = 1 << 14
	maxCodeText = 16 << 20
)

// codeInfo describes the code at a PC: functions, lines, module.
type codeInfo struct {
	at    []symbol.Location
	paths []string // of the modules of at
	outer int      // index in at of the function that contains the code; the calls inlined into it come before
	build string   // build ID of the module
	file  uint64   // link-time address of the PC
	text  []string // the printed form of each of at
}

// block returns an address inside the block that f executes: PC-1 for a caller, whose PC is behind
// the call.
func block(f *frame.Frame) uint64 {
	if f.Type() == frame.SigTramp {
		return f.PC() // the kernel has planted it, no call is before
	}
	return f.AddressInBlock()
}

// codeInfo describes the code at the PC of f.
func (w *walker) codeInfo(f *frame.Frame) *codeInfo {
	key := codeKey{f.PC(), block(f)}
	if s := w.codes[key]; s != nil {
		return s
	}
	s := &codeInfo{at: w.symbols.Locate(w.target.Modules(), key.block)}
	s.outer = len(s.at) - 1
	texts := 0
	for i := range s.at {
		p, path := &s.at[i], ""
		if p.Module != nil {
			path = symbol.Truncate(p.Module.Path)
		}
		s.paths = append(s.paths, path)
		texts += len(p.Function) + len(p.File) + len(path)
	}
	if m := s.at[s.outer].Module; m != nil {
		s.build = symbol.Truncate(m.BuildID())
		if _, bias, err := m.Image(); err == nil {
			s.file = key.pc - bias
		}
	}
	if w.texts += 2 * texts; len(w.codes) == maxCodes || w.texts > maxCodeText { // once as names, once as printed
		clear(w.codes)
		w.texts = 2 * texts
	}
	w.codes[key] = s
	return s
}

// name returns a plug-in's name for the frame f; or for its code, where no file has a name
// for that. walker.codes does not keep it, for plug-ins learn names as they are asked.
func (w *walker) name(s *codeInfo, f *frame.Frame) (name Symbol, ok bool) {
	return nameOf(w.plugins, f, s.at[s.outer].Function != "")
}

// nameOf returns the first name that one of the plug-ins has for f. known says that the code
// has a name already; then only a name for the frame alone counts.
func nameOf(plugins []Sniffer, f *frame.Frame, known bool) (name Symbol, ok bool) {
	for _, p := range plugins {
		if name, ok = p.Symbol(f); ok && (name.FrameOnly || !known) {
			return name, true
		}
	}
	return Symbol{}, false
}

// start begins the stack of th.
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

// thread walks th and calls yield with each frame. yield returns the bytes of text that it has
// written for the frame.
func (w *walker) thread(th target.Thread, yield func(*frame.Frame) int) (out thread) {
	out = thread{TID: th.ID(), Name: th.Name(), Frames: []frameEntry{}}
	if w.target.mark != nil {
		defer w.target.mark(th, &out)
	}
	if err := w.start(th); err != nil {
		out.Error = err.Error()
		return out
	}
	if _, runs := th.(target.RunningThread); runs && !w.flags.once {
		w.stack.RetakeIfMovedOn() // where the thread cannot be read once more, the frames are marked
	}
	var last *frame.Frame
	share := w.frames.share()
	for f, err := range w.stack.AllOnce() {
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
	// A stack that --max-frames cuts is whole all the same.
	out.whole = reason.Whole() || reason == frame.Limit
	if out.whole {
		out.Error = ""
	}
	return out
}

// plain reports whether f is printed with its place alone: it needs no mark, and the flags ask
// for no more.
func (w *walker) plain(f *frame.Frame) bool {
	return f.Type() == frame.Normal && !w.flags.registers && !w.flags.explain && !f.MovedOn() && f.Row().Flags&trad.Guess == 0
}

// appendFrame appends the calls inlined in f, the innermost first, and then f itself.
func (w *walker) appendFrame(list []frameEntry, level int, f *frame.Frame) []frameEntry {
	s := w.codeInfo(f)
	name, named := w.name(s, f)
	first := 0
	if t := f.Type(); t != frame.Normal && t != frame.OtherStack || name.FrameOnly {
		first = s.outer
	}
	cfa, known := f.CFA()
	base := frameEntry{Type: f.Type().String(), PC: hex{f.PC(), true}, CFA: hex{cfa, known}, Sniffer: f.Sniffer()}
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

// named gives x the name that a plug-in has for it.
func (x *frameEntry) named(name *Symbol) {
	x.Function, x.File, x.Line, x.Offset, x.args = symbol.Truncate(name.Function), symbol.Truncate(name.File), name.Line, 0, symbol.ArgsUnknown
	if name.Lo != 0 && name.Lo <= x.PC.v {
		x.Offset = x.PC.v - name.Lo
	}
}

// id returns the ID of f for depth 0, else of the depth-th call inlined into it, which p
// describes.
func id(f *frame.Frame, p *symbol.Location, depth int) frame.ID {
	if depth == 0 {
		return f.ID()
	}
	return f.ID().Inlined(depth, p.Entry)
}

// detail adds the marks of f to x, and what --registers and --explain ask for.
func (w *walker) detail(x *frameEntry, f *frame.Frame) {
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
