package ruby

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/unwindtables"
	"github.com/sfwalk/sfwalk/language"
)

// Each run of control frames belongs to a call of vm_exec, the function that has the evaluator run
// them. Calls and runs are in the same order, so the outermost call has the outermost run. A thread
// may have been stopped while it was about to begin a call, or to leave one: then the innermost run
// has no call, or the innermost call no run.

// place returns the groups of frames with their anchors, and why some of them may have none.
func (r *runtime) place(s *language.Stack, c *chain) (groups []language.Group, early string) {
	if len(c.frames) == 0 {
		return nil, ""
	}
	levels := r.calls(s, c)
	ended := len(c.runs)
	if ended > 0 && !c.runs[ended-1].ends {
		ended-- // functions in C that were called where no code of Ruby's ran
	}
	// at is the call of the first run.
	at := len(levels) - ended
	switch {
	case !s.Whole && at != 0:
		early = "the stack is not whole, so that the places of its frames are not sure"
		at = 0
	case at < -1 || at > 1:
		early = "the evaluator runs other frames than its calls on the stack, so that the places of frames are not sure"
	}
	for i := 0; i < len(c.frames); {
		n := i
		for n < len(c.frames) && c.frames[n].run == c.frames[i].run {
			n++
		}
		inner, outer := -1, len(s.Frames)-1
		call := at + c.frames[i].run
		if call > 0 && call <= len(levels) {
			inner = levels[call-1]
		}
		beside := true
		if call >= 0 && call < len(levels) && c.frames[i].run < ended {
			outer, beside = levels[call], false
		} else if call < 0 {
			outer = 0
		}
		groups = r.placeRun(s, groups, c.frames[i:n], inner, outer, beside)
		i = n
	}
	return groups, early
}

// mostFunction bounds the code of a function in C, bytes.
const mostFunction = 1 << 20

// placeRun places the frames of one run: the functions in C that are called from the evaluator, or
// by each other, at the physical frames of these functions, between the levels inner and outer, as
// far as they are found there; all others at outer.
func (r *runtime) placeRun(s *language.Stack, groups []language.Group, list []placed, inner, outer int, beside bool) []language.Group {
	from := inner + 1
	for len(list) > 0 && list[0].function != 0 {
		level := from
		for level < outer {
			f := s.Frames[level]
			if addr := f.AddressInBlock(); addr-list[0].function < mostFunction {
				if begin, ok := f.Function(); ok && begin == list[0].function {
					break
				}
			}
			level++
		}
		if level >= outer {
			break
		}
		groups = append(groups, language.Group{Anchor: anchor(s.Frames[level], s.Frames[level].Module() != r.module), Frames: []language.Frame{list[0].Frame}})
		list, from = list[1:], level+1
	}
	if len(list) == 0 {
		return groups
	}
	g := language.Group{Anchor: anchor(s.Frames[outer], beside)}
	for i := range list {
		g.Frames = append(g.Frames, list[i].Frame)
	}
	return append(groups, g)
}

func anchor(f *frame.Frame, beside bool) language.Anchor {
	cfa, _ := f.CFA()
	return language.Anchor{Level: f.Level, PC: f.PC(), CFA: cfa, Beside: beside}
}

// span is the code [lo, hi) of a function.
type span struct{ lo, hi uint64 }

func (x span) has(addr uint64) bool { return addr-x.lo < x.hi-x.lo }

// calls returns the levels of the calls of vm_exec, the innermost first. Its symbol is not exported
// by later releases: then it is the function that calls the evaluator, whose address is in all
// code.
func (r *runtime) calls(s *language.Stack, c *chain) (levels []int) {
	exec := r.exec.Load()
	if exec == nil {
		if exec = r.findCall(s, c); exec == nil {
			return nil
		}
		r.exec.Store(exec)
	}
	for level, f := range s.Frames {
		if exec.has(f.AddressInBlock()) {
			levels = append(levels, level)
		}
	}
	return levels
}

// function returns the code of the function that has an address in the module, nil if that is not
// known.
func (r *runtime) function(addr uint64) *span {
	lo, hi, _, ok := unwindtables.CFIOf(r.module, r.arch).Function(addr)
	if !ok {
		return nil
	}
	return &span{lo, hi}
}

// findCall returns the function that calls the evaluator, nil if it is not on the stack.
func (r *runtime) findCall(s *language.Stack, c *chain) *span {
	for _, x := range c.runs {
		if x.code == 0 {
			continue
		}
		evaluator := r.function(x.code)
		for level := 0; evaluator != nil && level < len(s.Frames)-1; level++ {
			if evaluator.has(s.Frames[level].AddressInBlock()) {
				return r.function(s.Frames[level+1].AddressInBlock())
			}
		}
		break
	}
	return nil
}
