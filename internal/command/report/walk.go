package report

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/hints"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/command/short"
	"github.com/sfwalk/sfwalk/internal/command/values"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/waitfor"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer/framebase"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
	"github.com/sfwalk/sfwalk/value"
)

// walk is one walk of the threads of a Source: who walks them, and what that has taken.
type walk struct {
	Source
	flags   *Flags
	symbols *symbol.Symbolizer
	threads []target.Thread // or goroutines
	walkers []*Walker
	values  *value.Budget // what the values in frames may still take
	seen    hints.Seen
	jit     *jitNames

	languages *languages
	told      map[int][]language.Told // by languages, of threads that were walked at one moment
}

// newWalk begins a walk, with as many walkers as can work at the same time.
func newWalk(s Source, symbols *symbol.Symbolizer, flags *Flags) (*walk, error) {
	threads, err := ThreadsOf(s, flags)
	if err != nil {
		return nil, err
	}
	w := &walk{Source: s, flags: flags, symbols: symbols, threads: threads, values: values.NewBudget(), jit: newJITNames(s.From().Process)}
	w.languages = newLanguages(s, flags, false)
	w.walkers = w.newWalkers()
	return w, nil
}

// ThreadsOf returns the threads that the flags ask for.
func ThreadsOf(s Source, flags *Flags) ([]target.Thread, error) {
	if g, ok := s.(*goroutineSource); ok {
		return g.list.Threads, nil
	}
	threads, err := s.Threads()
	if err != nil || len(flags.TIDs) == 0 {
		return threads, err
	}
	var list []target.Thread
	for _, th := range threads {
		if slices.Contains(flags.TIDs, th.ID()) {
			list = append(list, th)
		}
	}
	for _, tid := range flags.TIDs {
		if !slices.ContainsFunc(list, func(th target.Thread) bool { return th.ID() == tid }) {
			return nil, fmt.Errorf("--tid %d: the process has no such thread", tid)
		}
	}
	return list, nil
}

// Walker walks one thread after the other. Several walkers work at the same time, each with
// its own cache of rows.
type Walker struct {
	Target    Source
	Flags     *Flags
	Table     *frame.Table
	Symbols   *symbol.Symbolizer
	stack     *frame.Stack // of the thread that is being walked; its memory is used again for the next
	view      *logical.View
	room      []logical.Frame
	Allowance *allowance          // shared by all walkers
	share     *share              // of the stack that is being walked
	values    *values.Reader      // nil if none are read
	valued    []values.Shown      // of the stack, by level, as far as they were read
	trimmed   bool                // around the first values
	crashed   *Signal             // of the stack: see Thread.Crashed
	plugins   []hosts.Sniffer     // of the table: they may have names for code
	lock      waitfor.Kind        // for which the thread waits if it is in futex(2), by its inner functions
	dying     bool                // the stack has a function in which threads die
	words     *lastWords          // shared by all walkers
	seen      *hints.Seen         // of all walkers
	jit       *jitNames           // shared by all walkers
	languages *languages          // shared by all walkers
	decorated *language.Decorated // what languages say of the stack; nil for nothing
	Told      []waits.Told        // what languages know of the thread
	found     *waits.Graph        // shared by all walkers, once it is known
	shown     int                 // how many frames of the stack were, if --max-frames bounds them beside languages'
	cut       bool                // --max-frames has left out some then
}

// newWalkers returns as many walkers as can work on the threads at the same time.
func (of *walk) newWalkers() []*Walker {
	s, symbols, flags, n := of.Source, of.symbols, of.flags, len(of.threads)
	flags.Values.Trim() // the target has been read
	origin := s.From()
	plugins := flags.Plugins.Of(origin.Process)
	table := flags.Table(s.Arch(), origin.Windows, plugins)
	table.AppendBase(&framebase.Sniffer{Symbols: symbols})
	frames, searches := flags.NewAllowance(origin.InputSize, n), flags.searches()
	evaluator, calls := s.(Evaluator)
	if calls || sharedBy(s) != nil {
		n = min(n, 1)
	}
	list, words := make([]*Walker, min(n, runtime.GOMAXPROCS(0))), &lastWords{}
	for i := range list {
		view := logical.New(s, symbols)
		w := &Walker{Target: s, Flags: flags, Table: table, Symbols: symbols, view: view, plugins: plugins, jit: of.jit, languages: of.languages, Allowance: frames, words: words, seen: &of.seen}
		if len(plugins) > 0 || of.jit != nil {
			view.Name = func(f *frame.Frame, _ bool) (logical.Name, bool) {
				code := view.Code(f)
				return w.nameOf(f, &code.At[len(code.At)-1])
			}
		}
		w.values = values.NewReader(&flags.Values, s, symbols, of.values, flags.JSON, flags.Explain)
		if w.values != nil && calls {
			w.values.Evaluate = func(r *value.Reader, f *value.Frame, text string) (value.Value, error) {
				return evaluator.Evaluate(r, w.stack.Thread, f, text)
			}
		}
		list[i] = w
		table.ShareSearches(searches)
		table = table.Clone()
	}
	return list
}

// codeInfo is what is printed of the code at a PC, beside what a [logical.Code] says.
type codeInfo struct {
	module, build string       // path and build ID
	file          uint64       // link-time address of the PC; without the module's file, the distance from its base
	Texts         []string     // the printed form of each of logical.Code.At
	Kinds         []short.Kind // whose code each is; nil if no frames are left out
	lock          waitfor.Kind // for which a thread waits that is in futex(2) there
	dying         bool         // a thread with a frame there is dying
	noted         bool         // for hints
}

// newCodeInfo describes the code at a PC of the module m, or of none.
func newCodeInfo(pc uint64, m *target.Module) *codeInfo {
	if m == nil {
		return &codeInfo{}
	}
	s := &codeInfo{module: symbol.Truncate(m.Path), build: symbol.Truncate(m.BuildID())}
	if _, bias, err := m.Image(); err == nil {
		s.file = pc - bias
	} else {
		s.file = pc - m.Base()
	}
	return s
}

// CodeInfo describes the code at the PC of f.
func (w *Walker) CodeInfo(f *frame.Frame) (*codeInfo, *logical.Code) {
	code := w.view.Code(f)
	s, ok := code.Extra.(*codeInfo)
	if !ok {
		s = newCodeInfo(f.PC(), code.At[0].Module)
		s.dying, s.lock = dyingIn(code.At), lockIn(code.At)
		code.Extra = s
	}
	w.dying = w.dying || s.dying
	if w.lock == waitfor.Unknown && f.Level < lockFrames {
		w.lock = s.lock
	}
	return s, code
}

// Named reports whether a plug-in or a perf map names f or its code. The view does not keep that,
// for both learn names as they are asked.
func (w *Walker) Named(f *frame.Frame, code *logical.Code) bool {
	_, ok := w.nameOf(f, &code.At[len(code.At)-1])
	return ok
}

// start begins the stack of th.
func (w *Walker) start(th target.Thread) (err error) {
	if w.stack == nil {
		if w.stack, err = frame.New(w.Target, th, w.Table); err != nil {
			return err
		}
	} else if err = w.stack.Reset(w.Target, th); err != nil {
		return err
	}
	w.limit()
	w.stack.Deeper = pace.OftenIfDeep
	w.valued, w.dying, w.crashed, w.lock, w.decorated = w.valued[:0], false, nil, waitfor.Unknown, nil
	w.Told = nil
	w.values.Begin(target.MemoryOf(w.Target, th))
	w.Allowance.limit(w.stack)
	return nil
}

// Thread walks th and calls yield with each frame. yield returns the bytes of text that it has
// written for the frame.
func (w *Walker) Thread(th target.Thread, yield func(*frame.Frame) int) Thread {
	out := new(Thread)
	w.threadIn(out, th, yield)
	return *out
}

// threadIn is Thread in memory that the caller has, which may have had another thread.
func (w *Walker) threadIn(out *Thread, th target.Thread, yield func(*frame.Frame) int) {
	*out = Thread{TID: th.ID(), Name: th.Name(), Frames: []Frame{}, Goroutine: out.Goroutine}
	if w.Flags.log != nil {
		count, end := w.Flags.log.walk()
		of := yield
		yield = func(f *frame.Frame) int {
			count(f.Sniffer())
			return of(f)
		}
		defer func() { end(out) }()
	}
	defer mark(w.Target, th, out)
	if out.Kernel = kernelThread(w.Target.Arch(), th); out.Kernel != "" {
		out.Whole = true
		return
	}
	if err := w.start(th); err != nil {
		out.Error = err.Error()
		return
	}
	if running, ok := th.(target.RunningThread); ok && !w.Flags.Once {
		w.stack.RetakeIfMovedOn() // where the thread cannot be read once more, the frames are marked
		w.retakeForHeap(running)
	} else {
		w.decorate(th)
	}
	if w.decorated != nil {
		w.languages.note(th.ID(), w.decorated)
		w.Told = w.found.NewTold(th.ID(), w.decorated.Threads)
		out.Languages = w.Told
	}
	var last *frame.Frame
	share := w.Allowance.Share()
	w.share = &share
	defer func() { share.End(); w.share = nil }()
	for f, err := range w.stack.AllOnce() {
		if err != nil {
			out.Error = err.Error()
			if why := errors.Unwrap(err); why != nil {
				out.Detail = why.Error()
			}
			break
		}
		if !share.Has(f.Level) {
			break
		}
		pace.OftenIfDeep(f.Level)
		last = f
		share.Wrote(yield(f))
		if w.enough(f) {
			break
		}
	}
	out.MovedOn, out.Crashed = w.stack.MovedOn(), w.crashed
	reason := frame.Limit
	if !share.cut && !w.cut {
		reason = last.StopReason()
	}
	if w.dying {
		w.findWords(th, out)
	}
	w.noteLock(th)
	out.Stop = reason.String()
	if reason == frame.Limit && w.Allowance != nil {
		w.Allowance.CutShort(out)
		return
	}
	// A stack that --max-frames cuts is whole all the same.
	out.Whole = reason.Whole() || reason == frame.Limit
	if out.Whole {
		out.Error = ""
	}
}

// Plain reports whether f is printed with its place alone: it needs no mark, and the flags ask
// for no more.
func (w *Walker) Plain(f *frame.Frame) bool {
	return f.Type() == frame.Normal && !w.Flags.Values.Chosen() && !w.Flags.Registers && !w.Flags.Explain && !w.Flags.View.source.given && !f.MovedOn() && f.Row().Flags&trad.Guess == 0 && w.placeAt(f) == nil
}

// AppendFrame appends the logical frames of f, the innermost first: functions that left by a tail
// call after f had called them, the calls inlined in f, and then f itself.
func (w *Walker) AppendFrame(list []Frame, level int, f *frame.Frame) []Frame {
	before := len(list)
	list = w.AppendTailCalls(list, level, f)
	return w.AppendOwn(list, level+len(list)-before, f)
}

// AppendTailCalls is AppendFrame for functions that left by a tail call.
func (w *Walker) AppendTailCalls(list []Frame, level int, f *frame.Frame) []Frame {
	w.room = w.view.AppendTailCalls(w.room[:0], level, f)
	place := w.placeAt(f)
	for i := range w.room {
		list = append(list, w.entry(&w.room[i], newCodeInfo(w.room[i].PC, w.room[i].Module)))
		w.addValues(&list[len(list)-1], &w.room[i])
		if place != nil && place.Hidden && w.room[i].Module == w.view.Code(f).At[0].Module { // the run time has jumped within itself
			list[len(list)-1].Hidden, list[len(list)-1].DecoratedBy = true, place.By
		}
	}
	return list
}

// AppendOwn is AppendFrame for all others.
func (w *Walker) AppendOwn(list []Frame, level int, f *frame.Frame) []Frame {
	w.room = w.view.AppendOwn(w.room[:0], level, f)
	s, _ := w.CodeInfo(f)
	place := w.placeAt(f)
	if last := &w.room[len(w.room)-1]; !s.noted && place == nil && (last.Module != nil || f.Claim().Sniffer != "" || f.StopReason() != frame.NotCode) {
		s.noted = true
		w.seen.Add(f.PC(), last.Module, last.Function)
	}
	before := len(list)
	for i := range w.room {
		list = append(list, w.entry(&w.room[i], s))
		w.addValues(&list[len(list)-1], &w.room[i])
	}
	w.detail(&list[len(list)-1], &w.room[len(w.room)-1])
	if place != nil {
		list = w.appendLanguages(list, before, f, place)
	}
	return list
}

// entry returns what is printed of p, whose code s describes.
func (w *Walker) entry(p *logical.Frame, s *codeInfo) Frame {
	cfa, known := p.Physical.CFA()
	x := Frame{
		Level: p.Level, Type: p.Type.String(), PC: address.At(p.PC), CFA: address.If(cfa, known),
		Function: p.Function, NameFrom: p.NameFrom, File: p.File, Line: p.Line,
		Module: s.module, BuildID: s.build, Sniffer: p.Physical.Sniffer(),
		Params: p.Args, Over: p.Over, InFile: s.file, Block: p.AddressInBlock,
	}
	if p.Function != "" && p.Start != 0 {
		x.Offset = p.Offset + p.PC - p.AddressInBlock
	}
	if v := &w.Flags.View; v.source.given {
		x.Source = v.files.around(w.Target, p.Dir, p.File, p.Line, v.source.lines)
	}
	if w.Flags.Explain {
		x.ID = p.ID().String()
		x.TailCall = w.view.Explain(p)
	}
	return x
}

// detail adds the marks of the physical frame p to x, and what --registers and --explain ask for.
func (w *Walker) detail(x *Frame, p *logical.Frame) {
	f, a := p.Physical, w.Target.Arch()
	row := f.Row()
	x.Guess = row.Flags&trad.Guess != 0
	x.MovedOn = f.MovedOn()
	if f.Type() == frame.SigTramp {
		x.Signal = signalOf(f)
		if w.crashed == nil && x.Signal.crashes() {
			w.crashed = x.Signal
		}
	}
	if w.Flags.Registers {
		x.Registers = make([]Register, 0, len(a.Regs))
		for _, r := range a.Regs {
			x.Registers = append(x.Registers, Register{r.Name, f.Register(r.Num).String()})
		}
	}
	if w.Flags.Explain {
		c := f.Claim()
		e := &Explanation{Declined: []decline{}}
		if c.Sniffer != "" {
			e.Row = c.Row.Format(a.RegName)
		}
		for _, d := range c.Declined {
			e.Declined = append(e.Declined, decline{d.Sniffer, d.Reason})
		}
		info := p.Info(w.Table, w.Symbols)
		e.frameInfo = newFrameInfo(&info)
		x.Explain = e
	}
}
