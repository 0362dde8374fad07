package interval

import (
	"iter"
	"slices"
)

// Claims are addresses, each of which belongs to the first range that claims it. Ranges may
// overlap: no address is looked at again when it is claimed.
type Claims struct {
	addrs []uint64 // ascending
	next  []int    // the first of addrs from here on that is free, or one on the way there
}

// NewClaims returns addresses that are free. They may be in any order.
func NewClaims(addrs []uint64) *Claims {
	c := &Claims{addrs: slices.Compact(slices.Sorted(slices.Values(addrs)))}
	c.next = make([]int, len(c.addrs)+1)
	for i := range c.next {
		c.next[i] = i
	}
	return c
}

// free returns the first free address from i on.
func (c *Claims) free(i int) int {
	for c.next[i] != i {
		c.next[i] = c.next[c.next[i]]
		i = c.next[i]
	}
	return i
}

// Has reports whether there is an address in [lo, hi), free or not.
func (c *Claims) Has(lo, hi uint64) bool {
	i, _ := slices.BinarySearch(c.addrs, lo)
	return i < len(c.addrs) && c.addrs[i] < hi
}

// Claim yields the free addresses in [lo, hi), which are no longer free then.
func (c *Claims) Claim(lo, hi uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		first, _ := slices.BinarySearch(c.addrs, lo)
		for i := c.free(first); i < len(c.addrs) && c.addrs[i] < hi; i = c.free(i) {
			c.next[i] = i + 1
			if !yield(c.addrs[i]) {
				return
			}
		}
	}
}
