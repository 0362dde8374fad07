package perl

import (
	"sort"

	"github.com/sfwalk/sfwalk/language"
)

// hosts are the physical frames in whose places segments stand.
type hosts struct {
	list  []host // the innermost first
	inner ownFrame
	main  bool // the outermost one runs the program itself
}

// host is a run loop, or, as the outermost of the list, what reads a program before it runs.
type host struct {
	ownFrame
	cfa     uint64
	mayIdle bool // it calls a function of C, which begins no context
}

// hostsOf finds the hosts of a stack.
func (r *runtime) hostsOf(s *language.Stack, own []ownFrame) (h hosts) {
	h.inner = own[0]
	var outer *ownFrame // runs a program, outside of all run loops
	for i := range own {
		o := &own[i]
		if r.inLoop(o.pc) {
			cfa, _ := o.f.CFA()
			idle := i > 0 && own[i-1].level == o.level-1 && r.entersub.has(own[i-1].pc)
			h.list = append(h.list, host{*o, cfa, idle})
			outer = nil
		} else if anyHas(r.hosts, o.pc) && outer == nil {
			outer = o
		}
	}
	if outer != nil {
		h.main = true
		// perl_run does no more than call the run loop, unless none is there any more.
		if len(h.list) == 0 || !r.hosts[0].has(outer.pc) {
			cfa, _ := outer.f.CFA()
			h.list = append(h.list, host{*outer, cfa, false})
		}
	}
	return h
}

// hosted returns the segments that this stack runs: the last one is not the program itself where
// other code than perl's has called a sub, as in a thread.
func (h *hosts) hosted(list []segment) []segment {
	if !h.main {
		return list[:len(list)-1]
	}
	return list
}

// place gives each segment its host, from the outermost one inward. The segment of an eval says by
// the address of a JMPENV which it is. Between these, loops may be idle.
func (h *hosts) place(list []segment) (groups []language.Group) {
	next := len(h.list) - 1
	at := make([]int, len(list)) // by segment: the index of its host; -1 for none
	for i := len(list) - 1; i >= 0; i-- {
		if known, ok := h.within(list[i].env); ok && known <= next {
			next = known
		} else if !ok {
			next = h.skipIdle(list, i, next)
		}
		at[i] = max(next, -1)
		next = at[i] - 1
	}
	for i := range list {
		if len(list[i].frames) == 0 {
			continue
		}
		o, beside := h.inner, true // a loop is just beginning, or ending
		if at[i] >= 0 {
			o, beside = h.list[at[i]].ownFrame, false
		}
		a := anchorAt(o.level, o.f)
		a.Beside = beside
		if n := len(groups) - 1; n >= 0 && groups[n].Anchor == a {
			groups[n].Frames = append(groups[n].Frames, list[i].frames...)
			continue
		}
		groups = append(groups, language.Group{Anchor: a, Frames: list[i].frames})
	}
	return groups
}

// within returns the index of the host that runs what has a JMPENV at env: the outermost one
// inside of it.
func (h *hosts) within(env uint64) (index int, ok bool) {
	i := sort.Search(len(h.list), func(i int) bool { return h.list[i].cfa > env }) - 1
	return i, env != 0 && i >= 0
}

// skipIdle returns the host of a segment about which nothing else tells: next, or one inside of
// it, if there are more hosts than segments up to the next segment that is told, and next may
// idle.
func (h *hosts) skipIdle(list []segment, i, next int) int {
	segments, until := 1, -1
	for j := i - 1; j >= 0; j-- {
		if known, ok := h.within(list[j].env); ok {
			until = known
			break
		}
		segments++
	}
	for next-until > segments && next >= 0 && h.list[next].mayIdle {
		next--
	}
	return next
}
