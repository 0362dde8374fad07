package symbol

import "github.com/sfwalk/sfwalk/target"

// Within reports whether the code that is entered at address inner, a function's or an
// inlined call's, is the same as the code that is entered at outer, or part of it: whether
// the call is inlined, directly or by way of others, into outer's code. Both are
// [Location.Entry] of some place, or the address of a function's symbol.
func (s *Symbolizer) Within(modules *target.Modules, inner, outer uint64) bool {
	if inner == outer {
		return true
	}
	for _, at := range s.Locate(modules, inner) {
		if at.Function != "" && (at.Entry == outer || !at.Inline && at.Start == outer) {
			return true
		}
	}
	return false
}
