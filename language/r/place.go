package r

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// placer gives contexts, the innermost first, their places in a stack.
type placer struct {
	r         *runtime
	stack     *language.Stack
	innermost int // the level of R's innermost frame that evaluates; -1 for none
	outermost int

	next    int // the level from which the next context may be
	last    int // the level of the context before; -1 for none
	waiting []language.Frame
	groups  []language.Group
	lo, hi  int // the levels of groups
}

func (r *runtime) placerOf(s *language.Stack) *placer {
	p := &placer{r: r, stack: s, innermost: -1, last: -1, lo: len(s.Frames), hi: -1}
	for level, f := range s.Frames {
		if begin, _ := f.Function(); begin == r.eval && r.isOwn(f) {
			p.outermost = level
			if p.innermost < 0 {
				p.innermost = level
			}
		}
	}
	return p
}

// isOwn reports whether a physical frame is in R's code.
func (r *runtime) isOwn(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= r.module.Lo() && pc < r.module.Hi() && f.Type() == frame.Normal
}

// levelOf returns the level of the frame on whose part of the stack an address is. Contexts lie
// further out, one after the other.
func (p *placer) levelOf(addr uint64) (level int, ok bool) {
	for level := p.next; level < len(p.stack.Frames); level++ {
		f := p.stack.Frames[level]
		cfa, known := f.CFA()
		sp := f.Register(p.stack.Arch.SP)
		if !known || !sp.Known() || addr >= cfa {
			continue
		}
		return level, addr >= sp.Bits
	}
	return 0, false
}

// add adds a context with its frame, which is nil if it has none.
func (p *placer) add(at uint64, f *language.Frame) {
	level, ok := p.levelOf(at)
	if !ok { // on the stack of the interpreter of bytecode
		if f != nil {
			p.waiting = append(p.waiting, *f)
		}
		return
	}
	// A frame within this context's has called them. Functions of C between the two have contexts.
	p.place(max(level-1, p.last, 0))
	if f != nil {
		p.group(language.Group{Anchor: language.Anchor{Address: at}, Frames: []language.Frame{*f}}, level)
	}
	p.next, p.last = level, level
}

// end places what has waited for a context further out.
func (p *placer) end() { p.place(max(p.outermost, p.last)) }

// place places the frames that wait at a level.
func (p *placer) place(level int) {
	if len(p.waiting) == 0 {
		return
	}
	f := p.stack.Frames[level]
	cfa, _ := f.CFA()
	anchor := language.Anchor{Level: level, PC: f.PC(), CFA: cfa, Beside: !p.r.isOwn(f)}
	p.group(language.Group{Anchor: anchor, Frames: p.waiting}, level)
	p.waiting = nil
}

func (p *placer) group(g language.Group, level int) {
	p.groups = append(p.groups, g)
	p.lo, p.hi = min(p.lo, level), max(p.hi, level)
}

// own returns the levels of R's own frames between the functions.
func (p *placer) own() (levels []int) {
	for level := p.lo; level <= p.hi; level++ {
		if p.r.isOwn(p.stack.Frames[level]) {
			levels = append(levels, level)
		}
	}
	return levels
}
