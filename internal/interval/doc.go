// Package interval finds the ranges of addresses that hold an address: [Map] keeps ranges that
// do not overlap and may change, [Nested] keeps ranges that may overlap and are added first.
package interval

// Entry is the range [Lo, Hi) and its value.
type Entry[T any] struct {
	Lo, Hi uint64
	Value  T
}
