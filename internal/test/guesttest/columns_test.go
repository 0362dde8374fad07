//go:build linux

package guesttest

import (
	"maps"
	"testing"
)

// TestColumns compares x30 of callers with gdb's where the table has one rule for it and another
// for the PC.
func TestColumns(t *testing.T) {
	withLink := *ARM64
	withLink.Registers = maps.Clone(withLink.Registers)
	withLink.Registers[30] = "x30"
	s := subject{"", bare(&withLink, "columns.c", "-O2"), tables, false}
	s.run(t, func(c *checker) {
		stops := 0
		c.Each(t, false, func(stop *Stop) {
			c.check(stop, fromStub)
			stops++
		})
		if stops != 3 {
			t.Errorf("%d stops", stops)
		}
	})
}
