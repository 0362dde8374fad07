package tcl_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/languagetest"
	"github.com/sfwalk/sfwalk/language/tcl"
	"github.com/sfwalk/sfwalk/target/core"
)

// resting is what testdata/rest.tcl has on its stack, the innermost first: the functions of the
// native extension among Tcl's frames. They are in the program's text.
var resting = []string{
	"C o_rest", "::bottom:15", "::middle", "C o_call", "::middle:18",
	"::in_kid:7", "<script>:23", "::compare:23", "::top:27",
	"C o_invoke", "<script>:30",
}

// TestRest holds a program that stands still, and its core file, against its text.
func TestRest(t *testing.T) {
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			interpreter, headers := tclsh(t, release)
			p := languagetest.StartTold(t, interpreter, testdata(t, "rest.tcl"), oracle(t, headers))
			p.Rest(t)
			hold(t, languagetest.Attach(t, p.PID, tcl.Decorator{}, nil)[p.PID])
			path := filepath.Join(t.TempDir(), "core")
			gdbtest.Batch(t, nil, "attach "+strconv.Itoa(p.PID), "generate-core-file "+path, "detach")
			tg, err := core.Open(path, core.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			hold(t, languagetest.All(t, tg, tcl.Decorator{}, nil)[p.PID])
		})
	}
}

func hold(t *testing.T, d *languagetest.Thread) {
	t.Helper()
	var got []string
	for level, f := range d.Stack.Frames {
		if m := f.Module(); m != nil && filepath.Base(m.Path) == "oracle" {
			im, bias, err := m.PeekImage()
			if err != nil {
				t.Fatal(err)
			}
			sym, _ := im.Symbols().Find(f.AddressInBlock() - bias)
			got = append(got, "C "+im.Symbols().Name(sym))
		}
		if d.Said == nil || d.Said.At[level] == nil {
			continue
		}
		for _, f := range d.Said.At[level].Frames {
			line := ""
			if f.File != "" {
				line = fmt.Sprintf(":%d", f.Line)
				if filepath.Base(f.File) != "rest.tcl" {
					t.Errorf("%s is in the file %s", f.Function, f.File)
				}
			}
			got = append(got, f.Function+line)
		}
	}
	if w := d.Warnings(); !slices.Equal(got, resting) || len(w) > 0 {
		t.Errorf("%s\n%q\nwant %s\n%s", strings.Join(got, "\n"), w, strings.Join(resting, "\n"), dump(d))
	}
}
