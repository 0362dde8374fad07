package arch

import (
	"math"
	"slices"
)

// A SplitFunction is the code of a function that the compiler has laid out in two places, as it
// does with unlikely code: the two parts, end to end.
type SplitFunction struct {
	Code []byte
	Cold int32 // offset in Code at which the part that is elsewhere begins

	start, apart uint64 // the addresses of both parts
	hot          int32  // bytes of the first one
}

// room is what parts one part from the other: longer than an instruction.
const room = 16

// NewSplitFunction joins the code hot, which begins with the function's entry at address start, and
// cold, which begins at address apart. Neither may have 1 GiB or more.
func NewSplitFunction(hot []byte, start uint64, cold []byte, apart uint64) *SplitFunction {
	at := (len(hot) + room + 7) &^ 7
	s := &SplitFunction{Cold: int32(at), start: start, apart: apart, hot: int32(len(hot))}
	s.Code = append(slices.Grow(slices.Clone(hot), at-len(hot)+len(cold))[:at:at], cold...)
	return s
}

// Holds reports whether an offset lies in one of the two parts, and not between them.
func (s *SplitFunction) Holds(at int32) bool { return at < s.hot || at >= s.Cold }

// Address returns the address of the code at an offset.
func (s *SplitFunction) Address(at int32) uint64 {
	if at >= s.Cold {
		return s.apart + uint64(at-s.Cold)
	}
	return s.start + uint64(at)
}

// Offset returns the offset of an address.
func (s *SplitFunction) Offset(addr uint64) (at int32, ok bool) {
	if n := addr - s.start; n < uint64(s.hot) {
		return int32(n), true
	}
	if n := addr - s.apart; n < uint64(len(s.Code))-uint64(s.Cold) {
		return s.Cold + int32(n), true
	}
	return 0, false
}

// Target returns the offset that a branch leads to: to is where it would lead to if Code
// were in one place, and the branch is at offset at. It is -1 outside of both parts.
func (s *SplitFunction) Target(at int32, to int64) int32 {
	if to < math.MinInt32 || to > math.MaxInt32 {
		return -1
	}
	if t, ok := s.Offset(s.Address(at) + uint64(to-int64(at))); ok {
		return t
	}
	return -1
}
