package sframe

import (
	"bytes"
	"testing"
)

// TestRewriteLinked: what linkers write comes out as it went in, byte for byte.
func TestRewriteLinked(t *testing.T) {
	for _, fx := range fixtures {
		t.Run(fx.name, func(t *testing.T) {
			s, _ := openFixture(t, fx.name)
			c, err := s.Contents()
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Encode(s.Addr)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, s.Data) {
				t.Errorf("%d bytes became %d:\n%x\n%x", len(s.Data), len(got), s.Data, got)
			}
		})
	}
}
