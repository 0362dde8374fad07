//go:build linux

package minidump

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestMeasure measures small ones: whether all that is measured runs.
func TestMeasure(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	gdbtest.Breakpad(t, "minidump_stackwalk")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(t.Context(), d, Options{Rounds: 1, Size: 20 << 20, Dumps: 20, Looped: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Goals {
		if g.Missing != "" || g.Ours.Number <= 0 || g.Theirs.Number <= 0 {
			t.Errorf("%+v", g)
		}
	}
	t.Log(s.Tables[0].String())
}

// TestFill: the records that fill a file up are all well-formed, and the file is as large as it
// should be.
func TestFill(t *testing.T) {
	text := strings.Builder{}
	text.WriteString("MODULE Linux x86_64 1 a\n")
	fill(&text, 16<<20)
	f, err := breakpad.New(strings.NewReader(text.String()), int64(text.Len()))
	if err != nil {
		t.Fatal(err)
	}
	c := f.Counts()
	if c.Malformed+c.Unknown > 0 || c.Funcs < 1000 || c.Funcs != c.CFI || text.Len() < 16<<20 || text.Len() > 17<<20 {
		t.Errorf("%+v, %d bytes", c, text.Len())
	}
	at, err := f.Locate(0x10000000 + 0x200*500 + 0x48)
	if err != nil || len(at) != 5 || !strings.HasSuffix(at[4].Function, "::Function500(std::string const&, unsigned long)") {
		t.Errorf("%+v, %v", at, err)
	}
}
