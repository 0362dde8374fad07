package tcl

import (
	"cmp"
	"slices"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Decorate implements [language.Runtime].
func (r *runtime) Decorate(s *language.Stack) (*language.Decoration, error) {
	if !slices.ContainsFunc(s.Frames, r.isOwn) {
		return nil, nil
	}
	memory := structs.New(s.Arch, s.Memory, &r.pages)
	defer memory.Free()
	left := &budget{mostBytes, mostRecords}
	loops, interps := r.loopsOf(memory, s, left)
	d := &language.Decoration{}
	var failed error
	interpreters := map[int]bool{}
	for _, m := range interps {
		var of []*loop
		for _, l := range loops {
			if l.interp == m.interp {
				of = append(of, l)
			}
		}
		list, err := m.commands()
		if err == nil {
			var c callbacks
			if c, err = m.callbacks(); err == nil {
				list = m.divide(list, of, c)
			} else {
				m.scripts(list, of)
			}
		}
		if err != nil {
			failed = err
			if list == nil {
				continue
			}
			m.scripts(list, of)
		}
		for i, x := range list {
			if x.running {
				interpreters[of[x.loop].level-1] = true
				x.pcs = m.counters(s, s.Frames[of[x.loop].level-1], x)
			}
			if i > 0 && list[i-1].loop == x.loop {
				last := &d.Groups[len(d.Groups)-1]
				last.Frames = append(last.Frames, m.frame(x))
				continue
			}
			level := r.innermost(s, of)
			if x.loop >= 0 {
				level = of[x.loop].level
			}
			if level >= 0 {
				d.Groups = append(d.Groups, language.Group{Anchor: anchor(s, level), Frames: []language.Frame{m.frame(x)}})
			}
		}
	}
	if failed != nil {
		if len(d.Groups) == 0 {
			return nil, failed
		}
		d.Early = "its frames end early: " + failed.Error()
	} else if left.bytes < 0 || left.records < 0 {
		d.Early = "names and lines of some frames are left out: there is too much to read"
	}
	if len(d.Groups) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(d.Groups, func(a, b language.Group) int { return cmp.Compare(a.Anchor.Level, b.Anchor.Level) })
	d.Own = r.own(s, d.Groups, interpreters)
	return d, nil
}

func anchor(s *language.Stack, level int) language.Anchor {
	f := s.Frames[level]
	cfa, _ := f.CFA()
	return language.Anchor{Level: level, PC: f.PC(), CFA: cfa}
}

// innermost returns the level of Tcl's innermost frame outside of which no loop is: it evaluates a
// script, between two commands.
func (r *runtime) innermost(s *language.Stack, loops []*loop) int {
	for level, f := range s.Frames {
		if len(loops) > 0 && level >= loops[0].level {
			return loops[0].level
		}
		if r.isOwn(f) {
			return level
		}
	}
	return -1
}

// own returns the levels of Tcl's own frames between the groups, the ones outside that have begun
// the outermost group, and the ones that execute bytecode.
func (r *runtime) own(s *language.Stack, groups []language.Group, interpreters map[int]bool) (levels []int) {
	lo, hi := groups[0].Anchor.Level, groups[len(groups)-1].Anchor.Level
	for level, f := range s.Frames {
		if !r.isOwn(f) {
			if level > hi {
				break
			}
			continue
		}
		if level >= lo || interpreters[level] {
			levels = append(levels, level)
		}
	}
	return levels
}

// frame returns a command as a frame.
func (m *reader) frame(c command) language.Frame {
	f := language.Frame{Function: m.procedure(c.call), Place: c.at}
	m.Err()
	name := eval
	switch c.kind {
	case m.TypeSource:
		name, f.File = script, m.file(c.path)
		if c.line != 0 {
			f.Line = max(0, int(int32(m.Int(c.line, int(m.Size)))))
		}
	case m.TypePrecompiled:
		name, f.Kind = precompiled, "precompiled"
	case m.TypeCode:
		if code := m.code(c.code); code != nil {
			f.File = code.file
			if f.File != "" {
				name = script
				f.Line, f.Guess = m.lineOf(code, c)
			}
		}
	}
	if m.Err(); f.File == "" && f.Kind == "" {
		f.Kind = "eval"
	}
	if f.Function == "" {
		f.Function = name
	}
	return f
}
