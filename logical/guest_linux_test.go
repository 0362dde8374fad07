package logical_test

import (
	"context"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target/remote"
)

// TestGuests compares stacks of emulated arm64 and s390x with the stacks that gdb-multiarch shows.
func TestGuests(t *testing.T) {
	for _, p := range []*guesttest.Processor{guesttest.ARM64, guesttest.S390X} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			t.Run(p.GOARCH+version, func(t *testing.T) {
				t.Parallel()
				g := &guesttest.Guest{Processor: p, Path: p.Build(t, "tails.c", "-O2", "-static", version)}
				least := map[string]int{"chain": 2, "inlined": 1, "ways": 1}
				g.Each(t, false, func(stop *guesttest.Stop) {
					tg, err := remote.Dial(context.Background(), "unix:"+stop.Stub, remote.Options{Exe: g.Path})
					if err != nil {
						t.Fatal(err)
					}
					defer tg.Close()
					threads, err := tg.Threads()
					if err != nil || len(threads) != 1 {
						t.Fatalf("%d threads: %v", len(threads), err)
					}
					symbols := symbol.New(symbol.Options{})
					defer symbols.Close()
					got, gdb := ours(t, logical.New(tg, symbols), newStack(t, tg, threads[0])), gdbs(stop.Threads[0])
					for _, list := range [][]shown{got, gdb} {
						for i := range list {
							if list[i].typ == "inline" {
								list[i].id.Code = 0 // releases of gdb differ: see internal/test/gdbtest
							}
						}
					}
					if why := difference(got, gdb); why != "" {
						t.Errorf("%s: %s", stop.Scenario, why)
					}
					jumps := 0
					for i := range got {
						jumps = max(jumps, tails(got[i:]))
					}
					if jumps < least[stop.Scenario] {
						t.Errorf("%s: %d tail calls in a row:\n%s", stop.Scenario, jumps, text(got))
					}
				})
			})
		}
	}
}
