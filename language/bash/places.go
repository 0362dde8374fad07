package bash

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// places are the levels of physical frames of bash.
type places struct {
	inner, outer int   // of the functions that execute commands: the innermost and the outermost; -1 for none
	begins       []int // of the functions that begin a call, the outermost first
	own          []int // what is hidden
}

// executes are the functions of bash that execute commands, and have symbols.
var executes = []string{"execute_command_internal", "execute_command", "parse_and_execute", "reader_loop"}

// placesOf looks through a stack.
func (r *runtime) placesOf(s *language.Stack) places {
	p := places{inner: -1, outer: -1}
	for level := len(s.Frames) - 1; level >= 0; level-- {
		f := s.Frames[level]
		if !r.isOwn(f) {
			continue
		}
		begin, _ := f.Function()
		is := r.executes[begin]
		for _, b := range r.begins() {
			if b.has(f.AddressInBlock()) {
				is, p.begins = true, append(p.begins, level)
			}
		}
		if is {
			p.inner, p.outer = level, max(p.outer, level)
		}
	}
	for level := p.inner; level >= 0 && level <= p.outer; level++ {
		if r.isOwn(s.Frames[level]) {
			p.own = append(p.own, level)
		}
	}
	return p
}

// isOwn reports whether a physical frame is in bash's code.
func (r *runtime) isOwn(f *frame.Frame) bool {
	pc := f.AddressInBlock()
	return pc >= r.module.Lo() && pc < r.module.Hi() && f.Type() == frame.Normal
}

// groups gives frames, the outermost first, their places. The first one is the script, and each
// other one has a function that begins a call; such a function inside of all these has not pushed
// its call yet, or not any more.
func (p *places) groups(s *language.Stack, frames []language.Frame) (groups []language.Group) {
	if !s.Whole {
		group := language.Group{Anchor: anchorAt(s, p.inner)}
		for i := len(frames) - 1; i >= 0; i-- {
			group.Frames = append(group.Frames, frames[i])
		}
		return []language.Group{group}
	}
	for i := len(frames) - 1; i >= 0; i-- {
		f, anchor := frames[i], language.Anchor{Level: -1}
		switch {
		case i == 0:
			anchor = anchorAt(s, p.outer)
		case i <= len(p.begins):
			anchor = anchorAt(s, p.begins[i-1])
			// Before its first command, the line is its caller's.
			f.Guess = i == len(frames)-1 && p.inner == p.begins[i-1] && f.Line > 0
		}
		groups = append(groups, language.Group{Anchor: anchor, Frames: []language.Frame{f}})
	}
	return groups
}

func anchorAt(s *language.Stack, level int) language.Anchor {
	f := s.Frames[level]
	cfa, _ := f.CFA()
	return language.Anchor{Level: level, PC: f.PC(), CFA: cfa}
}
