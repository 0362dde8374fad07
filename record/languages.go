package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// languages are the run times of languages in a process, and what they say of one of its stacks.
type languages struct {
	runtimes []language.Named
	modules  []*target.Module // that were looked at
	stale    bool             // modules may have changed since
	failed   string           // why run times cannot be read
	tries    int              // how often they could not
	said     bool             // the user knows
	next     uint64           // when they are looked for again, on the clock of the samples

	stack     *frame.Stack        // nil while there is no walker
	frames    []*frame.Frame      // of the walk; none if the walker has made none
	decorated *language.Decorated // of the stack that was walked last; nil if they say nothing
	early     []string            // why frames of languages are missing there
}

// mostTries is how often run times are looked for that cannot be read: they may just begin.
// tryPause is the time between.
const (
	mostTries = 20
	tryPause  = uint64(500 * time.Millisecond)
)

// findLanguages looks for the run times of languages, if that was not done yet for the modules that
// the process has now.
func (s *space) findLanguages(now uint64) {
	l := &s.languages
	if s.opts.Decorators == nil {
		return
	}
	again := l.failed != "" && l.tries < mostTries && now >= l.next
	if !l.stale && !again {
		return
	}
	l.stale = false
	modules := s.modules.All()
	if slices.Equal(modules, l.modules) && !again {
		return
	}
	l.modules = slices.Clone(modules)
	list := s.opts.Decorators(s.pid)
	if !s.opts.Wall {
		list = slices.DeleteFunc(slices.Clone(list), func(d language.Decorator) bool {
			_, is := d.(language.OnStack)
			return !is
		})
	}
	var err error
	l.runtimes, err = language.Find(&language.Process{Arch: s.arch, Memory: s.life, Modules: s.modules}, list)
	l.next = now + tryPause
	if err == nil {
		l.failed, l.tries = "", 0
		return
	}
	l.failed = err.Error()
	if l.tries++; l.tries == mostTries {
		s.sayUnreadable()
	}
}

// sayUnreadable says why run times of languages could not be read. Those that have just begun
// cannot, and are not worth a word.
func (s *space) sayUnreadable() {
	if l := &s.languages; l.failed != "" && !l.said {
		l.said = true
		for text := range strings.Lines(s.languages.failed) {
			s.opts.Warn("%s", strings.TrimSuffix(text, "\n"))
		}
	}
}

// ReadMemory implements [target.Memory]: the memory of the process as it is now.
func (l *life) ReadMemory(addr uint64, p []byte) (int, error) {
	if !l.gone.Load() {
		if mem := l.host.memory(l.pid); mem != nil {
			return mem.ReadMemory(addr, p)
		}
	}
	return noMemory{}.ReadMemory(addr, p)
}

// resetStack makes the stack of a thread, with no more than most frames.
func (s *space) resetStack(th target.Thread, most int) bool {
	l := &s.languages
	if l.stack == nil {
		l.stack, _ = frame.New(process{s}, th, s.table)
	} else if l.stack.Reset(process{s}, th) != nil {
		l.stack = nil
	}
	if l.stack == nil {
		return false
	}
	l.stack.Limit = most
	return true
}

// walkFrames makes the frames of the stack, and fills what the walker would.
func (s *space) walkFrames() (n int, stop frame.StopReason) {
	l := &s.languages
	for f := range l.stack.All() {
		if f == nil {
			break
		}
		s.pcs[n] = f.PC()
		if s.named.cfas != nil {
			s.named.cfas[n], _ = f.CFA()
		}
		l.frames = append(l.frames, f)
		n++
	}
	if n == 0 {
		return 0, l.stack.Sentinel().StopReason()
	}
	return n, l.frames[n-1].StopReason()
}

// decorate has the languages say what the stack of a thread is that was walked: n frames. memory is
// what they read. moment is [language.Stack.Moment].
func (s *space) decorate(th target.Thread, memory target.Memory, n int, whole bool, moment uint64) {
	l := &s.languages
	l.decorated, l.early = nil, l.early[:0]
	if len(l.runtimes) == 0 || n == 0 {
		return
	}
	if len(l.frames) == 0 && !s.frameAgain(th, n) {
		return
	}
	l.decorated = language.Decorate(&language.Stack{Arch: s.arch, Thread: th, Memory: memory, Frames: l.frames, FramesAlone: true, Later: !s.opts.Wall, Moment: moment, Whole: whole && len(l.frames) == n}, l.runtimes)
	if l.decorated != nil {
		for _, text := range l.decorated.Warnings {
			// Reasons are equal for all threads.
			l.early = append(l.early, strings.TrimPrefix(text, fmt.Sprintf("thread %d: ", th.ID())))
		}
	}
}

// frameAgain makes n frames of which the walker has told the PCs alone. It reports whether they
// are the same: both walkers find the same frames, unless memory has changed meanwhile.
func (s *space) frameAgain(th target.Thread, n int) bool {
	l := &s.languages
	if !s.resetStack(th, n) {
		return false
	}
	for f := range l.stack.All() {
		if f == nil {
			break
		}
		if f.PC() != s.pcs[f.Level] {
			l.frames = l.frames[:0]
			break
		}
		l.frames = append(l.frames, f)
	}
	return len(l.frames) > 0
}

// lacks reports whether what was said of a stack of n frames may be another thing if more of the
// thread's registers were known.
func (l *languages) lacks(n int) bool {
	return l.stack == nil || l.stack.Lacks() || len(l.frames) != n || len(l.early) > 0
}

// manyFrames is from how many frames on a stack's frames are not kept for the next one.
const manyFrames = 1 << 10

// appendPlace appends the place of a physical frame, and the places of the frames of languages that
// stand in its place or outside of it.
func (s *space) appendPlace(level int, id uint32) {
	var at *language.Place
	if d := s.languages.decorated; d != nil {
		at = d.At[level]
	}
	if at == nil {
		s.stack = append(s.stack, id)
		return
	}
	if !at.Hidden || s.opts.HiddenFrames {
		if at.Name != "" {
			if n := s.tree.nameID(Name{FrameOnly: true, Function: at.Name}); n != 0 {
				p := s.tree.places[id]
				p.name = n
				id = s.tree.place(p)
			}
		}
		s.stack = append(s.stack, id)
	}
	for i := range at.Frames {
		f := &at.Frames[i]
		if len(s.stack) >= maxDepth {
			s.languages.early = append(s.languages.early, fmt.Sprintf("%s: more than %d frames: the outer ones are left out", f.Language, maxDepth))
			return
		}
		s.stack = append(s.stack, s.tree.place(place{kind: placeLanguage, name: s.tree.nameID(Name{Language: f.Language, Function: f.Function, File: f.File, Line: f.Line})}))
	}
}

// Languages returns the names of the languages of which there are frames.
func (p *Profile) Languages() (list []string) {
	for i := range p.named {
		if l := p.named[i].Language; l != "" && !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	return list
}

// maxEarly bounds the different reasons why frames of languages are missing. Some have addresses.
const maxEarly = 64

// markEarly marks the stack if frames of languages are missing in it. It reports whether there are
// any.
func (e *engine) markEarly(l *languages) bool {
	for _, why := range l.early {
		if !slices.Contains(e.tree.reasons, why) && len(e.tree.reasons) >= maxEarly {
			why = "frames of languages are missing"
		}
		e.mark(why)
	}
	return len(l.early) > 0
}
