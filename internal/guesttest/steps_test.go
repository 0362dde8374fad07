//go:build linux

package guesttest

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

func TestS(t *testing.T) {
	for _, p := range []*Processor{ARM64, S390X} {
		for _, path := range []string{gdbtest.Testdata(t, "guests", "steps-"+p.GOARCH+"-v3"), p.Build(t, "steps.c", append(Bare, "-O0")...)} {
			g := &Guest{Processor: p, Path: path}
			steps := g.Steps(t, gdbtest.Functions(t, path, "step_"))
			n := map[string]int{}
			for _, s := range steps {
				n[s.Function]++
				fs := ""
				for _, f := range s.Frames {
					fs += " " + f.Function
				}
				n[fs]++
			}
			t.Log(len(steps), n, steps[100].Frames[1])
		}
	}
}
