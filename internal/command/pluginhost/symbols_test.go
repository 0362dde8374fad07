package pluginhost

import (
	"bytes"
	"strings"
	"testing"
)

// TestProgress: a bar says what is fetched, and nothing is written where there is no terminal.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	p := &progress{out: &out, what: "symbols"}
	p.Begin(100)
	p.Begin(-1)
	p.Add(50)
	p.Add(50)
	p.end()
	if !strings.Contains(out.String(), "symbols") {
		t.Errorf("%q", out.String())
	}
	none := &progress{}
	none.Begin(100)
	none.Add(5)
	none.end()
}
