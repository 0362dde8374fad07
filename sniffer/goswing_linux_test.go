package sniffer_test

import (
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A thread runs C for a goroutine, and soon other C for the same one. A stack that has the C half
// of one call and the Go half of another must say so.
func TestOtherStackThatMovesOn(t *testing.T) {
	t.Run("calls", func(t *testing.T) { swing(t) })
	t.Run("leaf", func(t *testing.T) { swing(t, "leaf") })
}

func swing(t *testing.T, args ...string) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "goswing", "CGO_ENABLED=1"), args...)
	mixed, moved, n := 0, 0, 0
	// Where a thread is when it is stopped is chance. So try until all cases were seen.
	for ; n < 200 || n < 5000 && moved+mixed == 0; n++ {
		names, still, _ := attachAndWalk(t, p.PID)
		c, goes := "", ""
		for i, name := range names {
			switch side := strings.TrimSuffix(strings.TrimPrefix(name, "main."), "Inner"); {
			case side == "left" || side == "right":
				if name == side && c == "" {
					c = side // C's own function
				} else if goes == "" {
					goes = side
				}
				if c != "" && goes != "" && c != goes && i < still {
					t.Fatalf("%q: a C function of %s, called by %s, and nothing says that the thread has moved on", names, c, name)
				}
			}
		}
		switch {
		case c == "" || goes == "":
		case c != goes:
			mixed++
		case still < len(names):
			moved++
		}
	}
	t.Logf("%d stacks: %d moved on, %d of them mixed", n, moved+mixed, mixed)
	if moved+mixed == 0 {
		t.Error("no stack has moved on: the test has not tested anything")
	}
}
