package value

import counter "sync/atomic"

// Budget bounds the work for all values of a target, which its own debug information asks for: many
// variables, each an array of arrays, or at a place that an expression without an end computes. The
// unit is some 50 ns of work, or a byte of text. It is safe for concurrent use. A nil Budget has no
// bound.
type Budget struct{ left counter.Int64 }

// NewBudget returns a budget of n units.
func NewBudget(n int64) *Budget {
	b := &Budget{}
	b.left.Store(n)
	return b
}

// Spent reports whether nothing is left. Then texts end in "...".
func (b *Budget) Spent() bool { return b != nil && b.left.Load() <= 0 }

// Spend takes n units, and reports whether something was left.
func (b *Budget) Spend(n int) bool { return b == nil || b.left.Add(-int64(n)) > 0 }

// What some work costs.
const (
	costVariable = 8  // to find one, and to begin its text
	costRead     = 16 // to read a word by an expression
	costMissing  = 64 // to find out that memory is not there
	costCompare  = 2  // to compare two elements
	costSteps    = 2  // so many operations of an expression cost one unit
)
