package cpp

import "slices"

// point is where a coroutine is suspended.
type point struct {
	file string
	line int
}

// mostCode bounds the code of a function that is read for its points, bytes.
const mostCode = 1 << 20

// pointsOf returns the points at which a coroutine can be suspended, by their numbers. Before it is
// suspended, its code stores the point's number in the frame: the line of that instruction is the
// point's. The instruction to which a coroutine comes when it is resumed is often of another line,
// for nothing may be left to do of the one that has waited.
func (r *program) pointsOf(c *coroutine) map[uint64]point {
	l := r.layoutOf(c)
	if l.points != nil {
		return l.points
	}
	l.points = map[uint64]point{}
	if l.index.size == 0 { // it can wait at one point alone
		if awaits := r.awaitsOf(c); len(awaits) == 1 && !c.gcc {
			for p := range awaits {
				l.points[0] = p
			}
		}
		return l.points
	}
	found := map[uint64]map[point]int{}
	for _, s := range [...]span{c.resume, c.begin} {
		if s.lo >= s.hi || s.hi-s.lo > mostCode {
			continue
		}
		code := r.read(s)
		r.arch.Stores(code, int32(l.index.offset), l.index.size, func(at int, value uint64) bool {
			if p, ok := r.pointAt(c, code, s.lo, s.lo+uint64(at)); ok {
				value &= l.index.mask
				if found[value] == nil {
					found[value] = map[point]int{}
				}
				found[value][p]++
			}
			return len(found) < mostPoints
		})
	}
	for n, list := range found {
		l.points[n] = most(list)
	}
	return l.points
}

// pointOf returns the point at which a coroutine is suspended. A number that is stored nowhere, for
// the code computes it, has the line of a body of one line.
func (t *tasks) pointOf(x *object) (p point, ok bool) {
	if p, ok = t.pointsOf(x.of)[x.number]; ok && p.line > 0 {
		return p, true
	}
	if closes := t.layoutOf(x.of).closes; closes > 0 {
		if opens := t.opens(x.of); opens.line == closes {
			return opens, true
		}
	}
	return point{}, false
}

// mostPoints bounds the points of a coroutine.
const mostPoints = 1 << 12

// most returns what was found most often; of several, the one on the first line.
func most(list map[point]int) (best point) {
	all := make([]point, 0, len(list))
	for p := range list {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b point) int {
		if list[a] != list[b] {
			return list[b] - list[a]
		}
		return a.line - b.line
	})
	return all[0]
}

// mostBehind bounds the instructions behind a store that are looked at, and the bytes before it.
const mostBehind = 64

// pointAt returns the place in the source of the instruction at pc, which stores a point's number.
// GCC gives it the line of the brace that closes the body if temporary values live there, or of an
// inlined function that ends there. Then it is the line of what is beside it, of the calls of
// await_ready and await_suspend. code is the function's, from address lo on.
func (r *program) pointAt(c *coroutine, code []byte, lo, pc uint64) (p point, ok bool) {
	opens, l, awaits := r.opens(c), r.layoutOf(c), r.awaitsOf(c)
	inside := func(p point) bool {
		return p.line > opens.line && p.file == opens.file && (l.closes == 0 || p.line < l.closes)
	}
	if p = r.lineAt(pc); inside(p) || opens.line == 0 || p == opens {
		return p, p.line > 0
	}
	var better point
	look := func(pc uint64) bool {
		if p := r.lineAt(pc); inside(p) && (len(awaits) == 0 || awaits[p]) {
			better = p
		}
		return better.line == 0
	}
	n := 0
	r.arch.GoesOn(code, lo, pc, func(pc uint64) bool { n++; return look(pc) && n < mostBehind })
	for at := pc - 1; len(awaits) > 0 && better.line == 0 && at > lo && pc-at < mostBehind; at-- {
		look(at)
	}
	switch {
	case better.line > 0:
		return better, true
	case p.file != opens.file || p.line < opens.line || l.closes > 0 && p.line > l.closes:
		return point{}, false
	}
	return p, p.line > 0
}

// lineAt returns the line of a function's own source at an address in its code: where another one
// is inlined, the line of the call.
func (r *program) lineAt(pc uint64) point {
	at := r.symbols.Locate(r.modules, pc)
	outer := &at[len(at)-1]
	return point{outer.File, outer.Line}
}

// opens returns where a coroutine begins in the source.
func (r *program) opens(c *coroutine) point {
	if c.begin.lo < c.begin.hi {
		return r.lineAt(c.begin.lo)
	}
	return r.lineAt(c.resume.lo)
}
