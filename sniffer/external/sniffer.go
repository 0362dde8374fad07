package external

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/interval"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer asks a plug-in about one process. It is safe for concurrent use by several stacks of the
// process. It asks one question at a time.
type Sniffer struct {
	plugin *Plugin
	about  Target

	asking  sync.Mutex // while the session is used
	session *session   // nil before the first question

	mu      sync.RWMutex // of known and names
	known   interval.Map[said]
	names   interval.Map[plugin.Symbol]
	own     map[ownKey]name
	sp      trad.Reg // the number of SP; set with the first question
	size    int      // of the contents of known, names and own, in bytes, about
	epoch   uint64   // counts calls of Forget
	modules uint64   // generation of the mappings that known and names are for

	asked, kept, denied atomic.Uint64
}

var (
	_ frame.FunctionSniffer = (*Sniffer)(nil)
	_ frame.CachingSniffer  = (*Sniffer)(nil)
	_ frame.SpecialSniffer  = (*Sniffer)(nil)
)

// said is an answer for a range of code: a row, or why the plug-in declines.
type said struct {
	row      trad.Row
	declines frame.Answer // "" for a row
}

// ownKey identifies a frame with a name of its own: by its CFA, or by its SP if another sniffer has
// unwound it.
type ownKey struct {
	block, at uint64
	isSP      bool
}

// maxKnown bounds the entries of each kind that are kept. No honest plug-in gives more.
const maxKnown = 1 << 16

// maxSize bounds the memory of all that is kept, in bytes, about.
const maxSize = 32 << 20

// Answers that the host gives without the plug-in.
const (
	notCode    frame.Answer = "nothing executable is mapped there"
	notClaimed frame.Answer = "the plug-in never claims code there"
	outOfUse   frame.Answer = "the plug-in was put out of use"
	otherArch  frame.Answer = "the plug-in does not know the architecture"
)

// Sniffer returns a sniffer that asks the plug-in about one process.
func (p *Plugin) Sniffer(t Target) *Sniffer { return &Sniffer{plugin: p, about: t} }

// Name implements [frame.Sniffer] and returns the plug-in's name.
func (s *Sniffer) Name() string { return s.plugin.Description.Name }

// Stats returns the counts of questions so far.
func (s *Sniffer) Stats() Stats {
	return Stats{Asked: s.asked.Load(), Kept: s.kept.Load(), Denied: s.denied.Load()}
}

// Forget implements [frame.CachingSniffer]. The process has run on, and earlier answers may not
// hold any more. The next question describes the process to the plug-in again, and [Options].Total
// begins anew.
func (s *Sniffer) Forget() {
	s.plugin.spent.Store(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(0)
}

func (s *Sniffer) forget(generation uint64) {
	s.drop()
	s.epoch++
	s.modules = generation
}

// drop drops all kept answers.
func (s *Sniffer) drop() {
	s.known, s.names, s.own, s.size = interval.Map[said]{}, interval.Map[plugin.Symbol]{}, nil, 0
}

// Close ends the session with the plug-in. The next question begins a new one.
func (s *Sniffer) Close() {
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.session != nil {
		s.session.cancel()
		s.session = nil
	}
}

// Sniff implements [frame.Sniffer].
func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if answer := s.mayClaim(q); answer != frame.Claimed {
		s.denied.Add(1)
		return trad.Row{}, answer
	}
	if s.plugin.fault.Load() != nil {
		return trad.Row{}, outOfUse
	}
	if row, answer, ok := s.recall(q); ok {
		s.kept.Add(1)
		return row, answer
	}
	return s.ask(q)
}

// knows reports whether the plug-in is for an architecture.
func (p *Plugin) knows(a *arch.Arch) bool {
	list := p.Description.Architectures
	return len(list) == 0 || slices.Contains(list, a.Name)
}

// mayClaim reports whether the plug-in's description lets it claim a frame.
func (s *Sniffer) mayClaim(q *frame.Query) frame.Answer {
	d := &s.plugin.Description
	if !s.plugin.knows(q.Arch) {
		return otherArch
	}
	if q.Module == nil && !q.Modules.IsCode(q.AddressInBlock) && !q.Modules.IsCode(q.PC) {
		return notCode
	}
	if c := d.Claims; c != nil && !s.claims(q.Modules.FindFile(q.AddressInBlock)) {
		return notClaimed
	}
	return frame.Claimed
}

func (s *Sniffer) claims(m *target.Module) bool {
	c := s.plugin.Description.Claims
	if m == nil {
		return c.OutsideModules
	}
	return m.Memo(s.plugin, func() any { return matches(c.Modules, m.Path) }).(bool)
}

// matches reports whether a file's base name matches a pattern.
func matches(patterns []string, file string) bool {
	base := filepath.Base(file)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, base)
		return ok
	})
}

// recall returns a kept answer.
func (s *Sniffer) recall(q *frame.Query) (row trad.Row, answer frame.Answer, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.modules != q.Modules.Generation {
		return row, "", false
	}
	x, ok := s.known.Find(q.AddressInBlock)
	if !ok {
		return row, "", false
	}
	if x.Value.declines != "" {
		return row, x.Value.declines, true
	}
	row = x.Value.row
	row.Lo, row.Len = x.Lo, uint32(x.Hi-x.Lo)
	return row, frame.Claimed, true
}

// ask asks the plug-in.
func (s *Sniffer) ask(q *frame.Query) (trad.Row, frame.Answer) {
	about := asked{arch: q.Arch, modules: q.Modules, memory: q.Memory, block: q.AddressInBlock, regs: new(arch.Registers)}
	// This is done before the lock is taken: to find a register, inner frames may have to ask, too.
	q.This.Registers(about.regs)
	about.level, about.thread = q.This.Level, q.This.Stack().Thread
	if about.level > 0 {
		about.nextCFA, _ = q.This.Next().CFA()
	}
	s.asking.Lock()
	defer s.asking.Unlock()
	if row, answer, ok := s.recall(q); ok { // another stack has asked meanwhile
		s.kept.Add(1)
		return row, answer
	}
	if s.plugin.fault.Load() != nil {
		return trad.Row{}, outOfUse
	}
	s.asked.Add(1)
	r, err := s.question(q, &about)
	if err != nil {
		s.plugin.fail(err)
		return trad.Row{}, outOfUse
	}
	if r.claims {
		return r.row, frame.Claimed
	}
	return trad.Row{}, r.declines
}

// question sends a question, and keeps the parts of the answer that hold for other frames.
func (s *Sniffer) question(q *frame.Query, about *asked) (r reply, err error) {
	s.mu.Lock()
	if s.modules != q.Modules.Generation {
		s.forget(q.Modules.Generation)
		s.sp = q.Arch.SP
	}
	epoch := s.epoch
	s.mu.Unlock()
	if s.session == nil {
		if s.session, err = s.plugin.newSession(s.about); err != nil {
			return r, err
		}
	}
	x := s.session
	x.about = about
	if x.epoch != epoch {
		declines, never, err := x.begin()
		if err != nil {
			return r, err
		}
		x.epoch = epoch
		s.mu.Lock()
		if declines != "" {
			s.known.Put(0, ^uint64(0), said{declines: declines})
		}
		s.deny(never)
		s.mu.Unlock()
		if _, answer, ok := s.recall(q); ok {
			return reply{declines: answer}, nil
		}
	}
	begin := time.Now()
	if r, err = x.ask(q); err != nil {
		return r, err
	}
	s.keep(x, epoch, &r)
	// Keeping the answer may have taken longer than getting it.
	spent, total := s.plugin.spent.Add(int64(time.Since(begin))), s.plugin.opts.Total
	if total > 0 && time.Duration(spent) > total {
		err = fmt.Errorf("%w: all of its answers have taken more than %v (asked about frame %d at %#x)", ErrDeadline, total, about.level, q.PC)
	}
	return r, err
}

func (s *Sniffer) deny(list []plugin.Range) {
	for _, never := range list {
		s.known.Put(never.Lo, never.Hi, said{declines: notClaimed})
	}
}

// keep keeps names, and all that holds for more than one frame.
func (s *Sniffer) keep(x *session, epoch uint64, r *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	block := x.about.block
	if s.epoch != epoch {
		return // the process has run on meanwhile
	}
	if s.size += r.size(); s.size > maxSize || max(s.known.Len(), s.names.Len(), len(s.own)) > maxKnown {
		s.drop()
		s.size = r.size()
	}
	s.deny(r.never)
	for _, row := range r.more {
		s.known.Put(row.Lo, row.Lo+uint64(row.Len), said{row: row})
	}
	switch {
	case r.claims && r.row.Flags&trad.Once == 0:
		s.known.Put(r.row.Lo, r.row.Lo+uint64(r.row.Len), said{row: r.row})
	case !r.claims && !r.once && block+1 != 0:
		s.known.Put(block, block+1, said{declines: r.declines})
	}
	for _, symbol := range r.symbols {
		s.names.Put(symbol.Lo, symbol.Hi, symbol)
	}
	key := ownKey{block: block, at: r.cfa}
	if !r.claims {
		key.at, _ = x.about.regs.Get(s.sp)
		key.isSP = true
	}
	if r.own != (name{}) && key.at != 0 {
		if s.own == nil {
			s.own = make(map[ownKey]name)
		}
		s.own[key] = r.own
	}
}

// Symbol returns the plug-in's name for the frame whose address in block is block and whose CFA is
// cfa. If there is none, it returns the plug-in's name for the code there.
func (s *Sniffer) Symbol(block, cfa uint64) (plugin.Symbol, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if own := s.own[ownKey{block: block, at: cfa}]; own.symbol.Function != "" {
		return own.symbol, true
	}
	if x, ok := s.names.Find(block); ok {
		return x.Value, true
	}
	return plugin.Symbol{}, false
}

// NameOf is [Sniffer.Symbol] for profilers, which know no plug-ins. frameOnly says that the name is
// for the frame alone.
func (s *Sniffer) NameOf(block, cfa uint64) (function, file string, line int, frameOnly, ok bool) {
	x, ok := s.Symbol(block, cfa)
	if ok {
		s.mu.RLock()
		_, frameOnly = s.own[ownKey{block: block, at: cfa}]
		s.mu.RUnlock()
	}
	return x.Function, x.File, x.Line, frameOnly, ok
}

// FrameSymbol returns the plug-in's name for the frame f alone, with own true. If there is none, it
// returns the plug-in's name for the code that f runs.
func (s *Sniffer) FrameSymbol(f *frame.Frame) (name plugin.Symbol, own, ok bool) {
	block := f.AddressInBlock()
	s.mu.RLock()
	keys, sp := [2]ownKey{}, s.sp
	any := len(s.own) > 0
	s.mu.RUnlock()
	if any { // finding a register may need other sniffers
		cfa, _ := f.CFA()
		keys = [2]ownKey{{block: block, at: cfa}, {block, f.Register(sp).Bits, true}}
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, key := range keys {
		if x := s.own[key]; x.symbol.Function != "" {
			return x.symbol, true, true
		}
	}
	if x, ok := s.names.Find(block); ok {
		return x.Value, false, true
	}
	return name, false, false
}

// FunctionStart implements [frame.FunctionSniffer] by the plug-in's answers.
func (s *Sniffer) FunctionStart(q *frame.Query) (addr uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.own != nil {
		if cfa, ok := q.This.CFA(); ok {
			if own := s.own[ownKey{block: q.AddressInBlock, at: cfa}]; own.start != 0 {
				return own.start, true
			}
		}
	}
	if x, ok := s.names.Find(q.AddressInBlock); ok {
		return x.Value.Start, true
	}
	return 0, false
}

// SpecialAddress implements [frame.SpecialSniffer] by the plug-in's answers.
func (s *Sniffer) SpecialAddress(q *frame.Query) (addr uint64, ok bool) {
	cfa, ok := q.This.CFA()
	s.mu.RLock()
	defer s.mu.RUnlock()
	own := s.own[ownKey{block: q.AddressInBlock, at: cfa}]
	return own.special, ok && own.hasSpecial
}

// Insert puts a plug-in's sniffer into a table before the sniffer that its description names. If
// the table has none of that name, it goes before the first that reads code or guesses.
func Insert(t *frame.Table, s *Sniffer) {
	for _, name := range []string{s.plugin.Description.Before, "prologue", "fp-guess"} {
		if name != "" && t.Before(name, s) == nil {
			return
		}
	}
	t.Append(s)
}
