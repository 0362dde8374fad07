package record

import "testing"

// Tighten bounds the mappings of all processes of a recording until the test ends.
func Tighten(t testing.TB, mappings int) {
	was := maxRecorded
	t.Cleanup(func() { maxRecorded = was })
	maxRecorded = mappings
}
