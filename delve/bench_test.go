//go:build linux && (amd64 || arm64)

package delve_test

import (
	"testing"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// BenchmarkGoroutines takes the stacks of a thousand goroutines: by Delve alone, and by the engine,
// which asks Delve for the lines. Caches are dropped, as after each stop.
func BenchmarkGoroutines(b *testing.B) {
	p := gdbtest.StartRunning(b, delvetest.Go(b, "amd64"), "quiet")
	pt := delvetest.Attach(b, p.PID).Selected
	tg, err := delve.NewTarget(pt)
	if err != nil {
		b.Fatal(err)
	}
	defer tg.Close()
	const depth = 50
	for _, who := range []struct {
		name  string
		stack func(*proc.G) error
	}{
		{"Delve", func(g *proc.G) error {
			_, err := proc.GoroutineStacktrace(pt, g, depth, 0)
			return err
		}},
		{"sfwalk", func(g *proc.G) error {
			_, err := delve.Stacktrace(tg, delve.Goroutine(g.ID), depth)
			return err
		}},
	} {
		b.Run(who.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				pt.ClearCaches()
				list, _, err := proc.GoroutinesInfo(pt, 0, 0)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				for _, g := range list {
					if err := who.stack(g); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
