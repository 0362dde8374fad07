package live

import (
	"testing"
)

// The list of mappings is read piece by piece, and the process may change it meanwhile. The pieces
// may then overlap, which is no reason to fail.
func TestMappingsThatChange(t *testing.T) {
	p := start(t, "remaps.c")
	for range 60 {
		tg, err := Attach(t.Context(), p.PID, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tg.Close()
	}
}
