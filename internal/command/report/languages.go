package report

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/address"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/waits"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/decorators"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// Language is the type of a frame that no physical frame is: a language's.
const Language = "language"

// languages are the run times of languages in the process of a walk.
type languages struct {
	runtimes []language.Named
	failed   []string // why run times cannot be read
	saved    bool     // the process is a snapshot, which has what they said
	savedOf  []language.Named
	symbols  *symbol.Symbolizer // of tasks; nil if none was made
	table    *frame.Table       // of stacks that tasks are on; nil if none was walked

	mu     sync.Mutex
	warned []string                // about single stacks
	more   int                     // warnings that are left out
	locked map[int][]language.Told // of threads that wait for locks, or have some, by their IDs
}

// mostStackWarnings bounds the warnings about single stacks.
const mostStackWarnings = 8

// newLanguages finds the run times of languages in the process of s, for its stacks or its tasks.
func newLanguages(s Source, flags *Flags, tasks bool) *languages {
	if _, is := s.(*goroutineSource); is {
		return &languages{}
	}
	list := flags.DecoratorsOf(s.From().Process)
	l := &languages{}
	if !tasks {
		list = l.findSaved(s, list)
	}
	if len(list) == 0 {
		return l
	}
	var err error
	p := &language.Process{Arch: s.Arch(), Memory: s.Memory(), Modules: s.Modules()}
	if tasks {
		p.Symbols = sync.OnceValue(func() *symbol.Symbolizer {
			symbols := SymbolizerOf(s, flags)
			if sharedBy(s) == nil {
				l.symbols = symbols
			}
			return symbols
		})
		p.Threads = s.Threads
		p.Writable = writable(s)
		p.Walk = l.walker(s, flags)
	}
	l.runtimes, err = language.Find(p, list)
	if err != nil {
		l.failed = strings.Split(err.Error(), "\n")
	}
	return l
}

// DecoratorsOf returns what knows the languages of a process, plug-ins among them.
func (f *Flags) DecoratorsOf(p hosts.Process) []language.Decorator {
	list := decorators.Usual()
	if f.Decorators != nil {
		list = f.Decorators
	}
	return append(list[:len(list):len(list)], f.Plugins.Decorators(p)...)
}

// close ends the use of the run times.
func (l *languages) close() {
	if l.symbols != nil {
		l.symbols.Close()
	}
	if l.table != nil {
		l.table.Release()
	}
}

// any reports whether the process has run times of languages. A nil *languages has none.
func (l *languages) any() bool { return l != nil && (l.saved || len(l.runtimes) > 0) }

// names returns the names of the languages, one for each run time.
func (l *languages) names() (list []string) {
	for _, r := range append(l.savedOf, l.runtimes...) {
		list = append(list, r.Language)
	}
	return list
}

// note keeps the warnings about a thread's stack, and its locks.
func (l *languages) note(tid int, d *language.Decorated) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.ContainsFunc(d.Threads, func(t language.Told) bool { return len(t.Waits)+len(t.Holds) > 0 }) {
		if l.locked == nil {
			l.locked = map[int][]language.Told{}
		}
		l.locked[tid] = d.Threads
	}
	for _, text := range d.Warnings {
		l.warn(text)
	}
}

// warn keeps a warning about one stack, unless they are too many. The caller has locked l.
func (l *languages) warn(text string) {
	if len(l.warned) == mostStackWarnings {
		l.more++
		return
	}
	l.warned = append(l.warned, text)
}

// languageLine is what a language's frame takes in a text, bytes, about, beside its names.
const languageLine = 32

// cutShort notes that frames of a language are left out because the allowance is spent.
func (l *languages) cutShort(tid int, name string, frames int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.warn(fmt.Sprintf("thread %d: %s: %s %s left out: of all threads together, so many frames or so much text is shown; --max-frames 0 shows all",
		tid, name, count.Of(frames, "frame"), count.Verb(frames, "is", "are")))
}

// warnings returns all warnings.
func (l *languages) warnings() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := append(l.failed, l.warned...)
	if l.more > 0 {
		list = append(list, count.Of(l.more, "more warning")+" about frames of languages")
	}
	return list
}

// mostDecorated bounds the physical frames of a thread that languages decorate: all are kept
// meanwhile.
const mostDecorated = 1 << 16

// decorate has the languages say what the stack of a thread is, from the memory of its moment.
func (w *Walker) decorate(th target.Thread) {
	w.decorated = nil
	if !w.languages.any() {
		return
	}
	s := language.Stack{Arch: w.Target.Arch(), Thread: th, Memory: target.MemoryOf(w.Target, th), Locals: w.Flags.Values.Any() || w.Flags.Kept != nil}
	var last *frame.Frame
	for f, err := range w.stack.All() {
		if err != nil {
			last = nil
			break
		}
		last = f
		if len(s.Frames) == mostDecorated {
			last = nil
			break
		}
		s.Frames = append(s.Frames, f)
	}
	if len(s.Frames) == 0 {
		return
	}
	s.Whole = last != nil && last.StopReason().Whole()
	runtimes := append(w.restored(th), w.languages.runtimes...)
	w.decorated = language.Decorate(&s, runtimes)
	w.Flags.Kept.keep(&s, runtimes, w.decorated)
	if len(s.Frames) == mostDecorated {
		w.stack.Reset(w.Target, th) // the stack keeps what it has made: let it drop frames
	}
}

// placeAt returns what languages say of a physical frame, nil if they say nothing.
func (w *Walker) placeAt(f *frame.Frame) *language.Place {
	if w.decorated == nil {
		return nil
	}
	return w.decorated.At[f.Level]
}

// Shows reports whether a frame is in texts, trees and pictures. The run times' own frames are not,
// unless the flags ask for all, or for frames of its name.
func (w *Flags) Shows(f *Frame) bool {
	return !f.Hidden || w.View.AllFrames || w.Values.Names(f.Function)
}

// limit limits the stack to the frames that the flags ask for. Languages need the others as well to
// say where their frames belong.
func (w *Walker) limit() {
	w.shown, w.cut = 0, false
	w.stack.Limit = w.Flags.MaxFrames
	if w.stack.Limit > 0 && w.languages.any() {
		w.stack.Limit = max(w.stack.Limit, mostDecorated)
	}
}

// enough counts the frames at f, which were shown, and reports whether the flags ask for no more.
func (w *Walker) enough(f *frame.Frame) bool {
	most := w.Flags.MaxFrames
	if most == 0 || !w.languages.any() {
		return false
	}
	if place := w.placeAt(f); place == nil {
		w.shown++
	} else {
		w.shown += len(place.Frames)
		if !place.Hidden || w.Flags.View.AllFrames {
			w.shown++
		}
	}
	w.cut = w.shown > most || w.shown == most && f.StopReason() == frame.NoReason
	return w.shown >= most
}

// appendLanguages marks own, the frames that lie over the physical frame f, as a language says it,
// and appends the language's frames that stand in their place.
func (w *Walker) appendLanguages(list []Frame, before int, f *frame.Frame, place *language.Place) []Frame {
	own := list[before:]
	for i := range own {
		own[i].Hidden = place.Hidden
	}
	last := &own[len(own)-1]
	if place.Name != "" {
		last.Function, last.NameFrom, last.Offset, last.File, last.Line = place.Name, "", 0, "", 0
	}
	last.DecoratedBy = place.By
	frames := place.Frames
	if most := w.Flags.MaxFrames; most > 0 {
		left := most - w.shown
		if !place.Hidden || w.Flags.View.AllFrames {
			left--
		}
		frames = frames[:min(len(frames), max(left, 0))]
	}
	if w.Flags.View.outer == 0 { // else frames further in go again
		each := languageLine
		if w.Flags.Sum.Any() || w.Flags.JSON {
			each = entryText
		}
		if n := w.share.fit(frames, each); n < len(frames) {
			w.languages.cutShort(w.stack.Thread, frames[n].Language, len(frames)-n)
			frames = frames[:n]
		}
	}
	list = slices.Grow(list, len(frames))
	for i := range frames {
		p := &frames[i]
		x := Frame{
			Level: last.Level, Type: Language, PC: last.PC, CFA: last.CFA,
			Function: p.Function, File: p.File, Line: p.Line, Column: p.Column,
			Language: p.Language, Kind: p.Kind, Guess: p.Guess, MovedOn: p.MovedOn || f.MovedOn(),
			Holds: waits.Locks(p.Holds),
		}
		x.Shown = w.Flags.Values.OfLanguage(&p.Frame, w.Flags.JSON)
		if v := &w.Flags.View; v.source.given {
			x.Source = v.files.around(w.Target, "", p.File, p.Line, v.source.lines)
		}
		if w.Flags.Explain {
			x.Instead = last.Function
			if id := f.ID(); !id.Null() {
				x.ID = id.Inlined(p.Depth, p.Place).String()
			}
			if p.Place != 0 {
				at := address.At(p.Place)
				x.Place = &at
			}
		}
		list = append(list, x)
	}
	return list
}

// Levels returns how many levels frames take. Frames of languages have the level of the physical
// frame in whose place they stand.
func Levels(list []Frame) (n int) {
	for i := range list {
		if list[i].Type != Language {
			n++
		}
	}
	return n
}
