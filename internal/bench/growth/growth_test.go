//go:build linux

package growth

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestMeasure: all series run, up to their first two sizes, and are drawn.
func TestMeasure(t *testing.T) {
	gdbtest.Tool(t, "gcc")
	gdbtest.Tool(t, "ld")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(context.Background(), d, Options{Most: 10, Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	var sizes []string
	for _, table := range s.Tables {
		for _, row := range table.Rows {
			sizes = append(sizes, row[0])
		}
	}
	if got := strings.Join(sizes, " "); got != "10 1 10 1 10" {
		t.Errorf("processes of sizes %s", got)
	}
	for d := xml.NewDecoder(bytes.NewReader(s.Files[plotName])); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(s.Text, plotName) {
		t.Error("the text does not show the plot")
	}
}

// TestModules: the stack of a process of 10 modules leads through all of them, and agrees with
// gdb's.
func TestModules(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	gdbtest.Tool(t, "ld")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	list, err := allSeries(d, 10)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&meter{}).start(list[2], 10)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	modules := map[string]bool{}
	for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
		if f.Function == "step" {
			modules[f.Module] = true
		}
	}
	if len(modules) != 10 {
		t.Errorf("frames in %d modules: %v", len(modules), modules)
	}
}
