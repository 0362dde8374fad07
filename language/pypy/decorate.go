package pypy

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/pypy"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// isOwn reports whether a physical frame is in PyPy's code.
func (r *runtime) isOwn(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= r.module.Lo() && pc < r.module.Hi() && f.Type() == frame.Normal
}

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	tp, ok := threadlocal.Pointer(s.Arch, s.Frames[0])
	if !ok {
		return nil, nil
	}
	storage, err := r.storage.Storage(s.Memory, r.module, tp)
	if err != nil {
		return nil, nil // the thread has none, for it runs no Python
	}
	m := &reader{runtime: r, Reader: structs.New(s.Arch, s.Memory, &r.pages), known: map[uint64]*code{}, work: mostWork, texts: mostTexts}
	defer m.Free()
	t, ok := r.threadOf(m.Reader, storage)
	if err := m.Err(); !ok || err != nil || len(t.records) == 0 {
		return nil, err
	}
	p := m.placerOf(s, t)
	p.place()
	err = m.Err()
	if len(p.groups) == 0 {
		return nil, err
	}
	d := &language.Decoration{Groups: p.groups, Own: p.own()}
	switch {
	case err != nil:
		d.Early = "its frames end early: " + err.Error()
	case p.cut:
		d.Early = "the stack is not whole: its outer functions are not shown"
	case p.leaves:
		d.Early = leaves
	case p.unnamed:
		d.Early = "of some functions that compiled code runs, the names are not known"
	}
	return d, nil
}

const leaves = "compiled code is just being left: of functions inlined in it, frames are missing"

// placer gives the frames of Python of one thread their places.
type placer struct {
	m       *reader
	stack   *language.Stack
	records []record // the innermost first
	levels  []int    // of the records; -1 where that is not known
	chain   chain
	groups  []language.Group
	lo, hi  int  // the levels of groups
	unnamed bool // a function's name is not known
	leaves  bool // compiled code is just being left
	cut     bool // the stack is not whole
}

func (m *reader) placerOf(s *language.Stack, t thread) *placer {
	p := &placer{m: m, stack: s, records: t.records, levels: m.levels(s, t.records), lo: len(s.Frames), hi: -1}
	p.chain = chain{m: m, at: m.Pointer(t.context + m.layout.top)}
	return p
}

// place gives the functions of the records their frames, and their places.
func (p *placer) place() {
	elements := p.elements()
	known := len(elements)
	for known > 0 && p.levels[elements[known-1].record] < 0 {
		known-- // of a part of the stack that is not known
	}
	p.cut = known < len(elements) && !p.stack.Whole
	elements = elements[:known]
	segments, complete := p.segments(elements)
	if first := &segments[0]; p.cut && len(segments) == 1 && len(first.frames) > 0 {
		complete = false
		for i := range elements[:min(len(elements), 2)] {
			if first.base < 0 && elements[i].number == first.frames[0].code.number {
				first.base = i
			}
		}
	}
	align(elements, segments, complete)
	p.doubt(elements)
	for from := 0; from < len(elements); {
		record, to := elements[from].record, from
		var list []language.Frame
		for ; to < len(elements) && elements[to].record == record; to++ {
			e := &elements[to]
			compiled := e.enters || e.inside && e.doubt
			for _, f := range slices.Backward(e.extra) {
				list = p.add(list, f, e.inside && e.doubt, e.inside && e.doubt)
			}
			switch {
			case e.frame != nil:
				list = p.add(list, e.frame, compiled, compiled || e.doubt)
			case e.inside || to > 0:
				list = p.named(list, e.number)
			} // the function that runs is about to begin, or has just ended
		}
		p.group(record, list)
		from = to
	}
}

// elements returns the functions that the records say run, the innermost first. The outermost one
// of compiled code is the one that has entered it: a record further out has it, too.
func (p *placer) elements() (list []element) {
	entered := uint64(0) // the function that has entered the compiled code of the record before
	for i, rec := range p.records {
		if len(list) > mostRecords {
			p.m.Fail("there are more than 2^17 frames")
			break
		}
		var numbers []uint64 // the outermost first
		switch rec.kind {
		case pypy.Code:
			numbers = []uint64{rec.value}
		case pypy.Jitted:
			if p.levels[i] >= 0 {
				var ok bool
				numbers, ok = p.m.compiled(p.stack.Frames[p.levels[i]].PC(), rec.value)
				p.leaves = p.leaves || !ok
			}
		default: // the compiler itself, or the garbage collector
			continue
		}
		entry := rec.kind == pypy.Jitted && len(numbers) > 0 && numbers[0] != 0
		if entry {
			p.learn(p.levels[i])
		}
		numbers = slices.DeleteFunc(numbers, func(n uint64) bool { return n == 0 }) // builtin functions with loops
		if len(numbers) == 0 {
			continue
		}
		if entered != 0 && entered != numbers[len(numbers)-1] {
			list = append(list, element{number: entered, record: i, inside: true, enters: true})
		}
		for n := len(numbers) - 1; n >= 0; n-- {
			if n == 0 && entry {
				break
			}
			list = append(list, element{number: numbers[n], record: i, inside: rec.kind == pypy.Jitted, enters: n == len(numbers)-1 && entered == numbers[n]})
		}
		if entered = 0; entry {
			entered = numbers[0]
		}
	}
	return list
}

// segments reads the frames of the thread that are in memory.
func (p *placer) segments(elements []element) (list []segment, complete bool) {
	c, s, from := &p.chain, segment{base: -1}, 0
	for p.m.OK() {
		if f := c.frame(); f != nil {
			s.frames = append(s.frames, f)
			c.next(f)
			continue
		}
		if !c.lost {
			break
		}
		list = append(list, s)
		s = segment{base: -1}
		for from < len(elements) && s.base < 0 {
			if e := &elements[from]; e.enters {
				if f := p.m.inRegisters(c.token, e.number); f != nil {
					s.base, s.frames = from, []*pythonFrame{f}
					c.next(f)
				}
			}
			from++
		}
		if s.base < 0 {
			p.leaves = p.leaves || !slices.ContainsFunc(elements, func(e element) bool { return e.enters })
			return list, false
		}
	}
	return append(list, s), c.at == 0 && !c.lost
}

// compiledKind is the kind of frames of compiled code.
const compiledKind = "compiled"

// add adds a frame of a function, unless Python hides it. If doubt is set, the instruction that it
// has may be an older one.
func (p *placer) add(list []language.Frame, at *pythonFrame, compiled, doubt bool) []language.Frame {
	c := at.code
	if c.hidden {
		return list
	}
	f := language.Frame{Function: c.name, File: c.file, Line: p.m.line(c, at.instruction), Place: c.at}
	if compiled {
		f.Kind = compiledKind
	}
	f.Guess = doubt && f.Line > 0
	return append(list, f)
}

// named adds the frame of a function of which the number alone is known. PyPy's map of compiled
// code is not right everywhere: behind calls, functions that have ended may still be there.
func (p *placer) named(list []language.Frame, number uint64) []language.Frame {
	c := p.m.byNumber(number)
	if c == nil {
		p.unnamed = true
		return list
	}
	if c.hidden {
		return list
	}
	return append(list, language.Frame{Function: c.name, File: c.file, Place: c.at, Kind: compiledKind, Guess: true})
}

// group adds the frames of a record.
func (p *placer) group(i int, frames []language.Frame) {
	if len(frames) == 0 {
		return
	}
	g := language.Group{Anchor: language.Anchor{Level: -1}, Frames: frames}
	if level := p.levels[i]; level >= 0 {
		f := p.stack.Frames[level]
		cfa, _ := f.CFA()
		g.Anchor = language.Anchor{Level: level, PC: f.PC(), CFA: cfa}
		p.lo, p.hi = min(p.lo, level), max(p.hi, level)
	}
	p.groups = append(p.groups, g)
}

// own returns the levels of PyPy's own frames between the functions.
func (p *placer) own() (levels []int) {
	for level := p.lo; level <= p.hi; level++ {
		if f := p.stack.Frames[level]; p.m.isOwn(f) || f.Sniffer() == sniffer {
			levels = append(levels, level)
		}
	}
	return levels
}
