package sframeverify

import "slices"

// ranges is a list of ranges that ascend and do not touch.
type ranges []Range

// add adds a range that begins at or after the end of the last.
func (r *ranges) add(lo, hi uint64) {
	if n := len(*r); n > 0 && (*r)[n-1].Hi == lo {
		(*r)[n-1].Hi = hi
	} else {
		*r = append(*r, Range{lo, hi})
	}
}

// overlap returns the addresses that both lists have.
func overlap(x, y ranges) (both ranges) {
	for i, j := 0, 0; i < len(x) && j < len(y); {
		if lo, hi := max(x[i].Lo, y[j].Lo), min(x[i].Hi, y[j].Hi); lo < hi {
			both.add(lo, hi)
		}
		if x[i].Hi <= y[j].Hi {
			i++
		} else {
			j++
		}
	}
	return both
}

func (r ranges) bytes() (n uint64) {
	for _, x := range r {
		n += x.Hi - x.Lo
	}
	return n
}

// coverBytes counts the bytes of text in a, in b and in both.
func coverBytes(text []Span, a, b ranges) Coverage {
	var all ranges
	for _, x := range text {
		all.add(x.Lo, x.Hi)
	}
	a, b = overlap(all, a), overlap(all, b)
	c := Coverage{Total: all.bytes(), Both: overlap(a, b).bytes()}
	c.SFrameOnly = a.bytes() - c.Both
	c.CFIOnly = b.bytes() - c.Both
	c.Neither = c.Total - c.Both - c.SFrameOnly - c.CFIOnly
	return c
}

// coverFunctions counts the functions that lie in a, in b and in both.
func coverFunctions(list []Span, a, b ranges) Coverage {
	c := Coverage{Total: uint64(len(list))}
	for _, f := range list {
		switch inA, inB := a.contain(f.Range), b.contain(f.Range); {
		case inA && inB:
			c.Both++
		case inA:
			c.SFrameOnly++
		case inB:
			c.CFIOnly++
		default:
			c.Neither++
		}
	}
	return c
}

// contain reports whether one of the ranges holds x.
func (r ranges) contain(x Range) bool {
	i, ok := slices.BinarySearchFunc(r, x.Lo, func(r Range, lo uint64) int {
		switch {
		case r.Hi <= lo:
			return -1
		case r.Lo > lo:
			return 1
		}
		return 0
	})
	return ok && x.Hi <= r[i].Hi
}

// find returns the span of an ascending list that covers addr, or nil.
func find(list []Span, addr uint64) *Span {
	i, _ := slices.BinarySearchFunc(list, addr, func(f Span, addr uint64) int {
		if f.Lo <= addr {
			return -1
		}
		return 1
	})
	if i == 0 || addr >= list[i-1].Hi {
		return nil
	}
	return &list[i-1]
}
