package symbol

import "github.com/sfwalk/sfwalk/target"

// InlinedInto reports whether the call with the entry inner is inlined, directly or through others,
// into the call or function with the entry outer. It is true if both are the same. Each address is
// a [Location.Entry], or a function's symbol has it.
func (s *Symbolizer) InlinedInto(modules *target.Modules, inner, outer uint64) bool {
	if inner == outer {
		return true
	}
	for _, at := range s.Locate(modules, inner) {
		if at.Function != "" && (at.Entry == outer || !at.Inline && at.Start == outer) {
			return true
		}
	}
	m := modules.Find(outer)
	if m == nil {
		return false
	}
	mod := s.tables(m).elf
	if mod.image == nil {
		return false
	}
	d := mod.dwarf()
	return d != nil && d.within(inner-mod.bias, outer-mod.bias)
}

// within reports whether a call with the entry inner is inlined into a call with the entry outer.
// Both are link-time addresses, and need not be in any range.
func (d *debugInfo) within(inner, outer uint64) (found bool) {
	d.eachUnit(outer, func(u *unit) bool {
		in := d.described(u)
		in.c.code.Find(outer, func(s span) bool {
			in.i = s.Value
			found = in.d.body(in.u, in.c, in.i).within(inner, outer)
			return false
		})
		return !found
	})
	return found
}

// within is debugInfo.within for the calls that are inlined into a function.
func (b *body) within(inner, outer uint64) bool {
	in := 0 // index behind the last call that is inlined into one that is entered at outer
	for j := range min(len(b.functions), maxCalls) {
		f := &b.functions[j]
		if j < in && f.enters == inner {
			return true
		}
		if f.enters == outer {
			in = max(in, int(f.end))
		}
	}
	return false
}
