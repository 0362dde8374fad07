//go:build linux

package plugin

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// TestMeasure: every part is measured once, and the section has the expected rows and goals.
func TestMeasure(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "gcc")
	d, err := build.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(context.Background(), d, Options{Rounds: 1})
	if err != nil {
		t.Fatal(err)
	}
	body := s.Body("a machine")
	for _, want := range []string{
		"| 1 | the function's row | 1 |", "| 50 | the function's row | 50 |", "| 50 | and 63 more | 1 |",
		"| 500 | and 63 more | 8 |", "| 500 | for that frame alone | 500 |",
		"go-plugin's client, without |", "every second the plug-in's | `sfwalk attach --plugin sniffer-jit PID` |",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not there", want)
		}
	}
	if len(s.Goals) != 3 {
		t.Errorf("%d goals", len(s.Goals))
	}
	if testing.Verbose() {
		t.Log(body)
	}
}

// BenchmarkFirstWalk is the first walk of a deep stack of many functions.
func BenchmarkFirstWalk(b *testing.B) {
	d, err := build.NewDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	p, err := newPrograms(d)
	if err != nil {
		b.Fatal(err)
	}
	s, err := newSubject(context.Background(), &p, depth, depth)
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	for _, how := range []string{plain, ahead} {
		b.Run(how, func(b *testing.B) {
			x, err := external.Start(context.Background(), external.Options{Path: p.plugin[how], Deadline: time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			b.ReportAllocs()
			for b.Loop() {
				asks := x.Sniffer(s.about())
				if n, err := s.walk(s.table(asks)); n != s.frames || err != nil {
					b.Fatalf("%d frames, %v", n, err)
				}
				asks.Close()
			}
		})
	}
}
