package stacks_test

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/core"
)

// elfutils reads the stacks of a snapshot, too. Its reader of core files differs from gdb's: it
// wants segments that begin with a page.
func TestOpenElfutils(t *testing.T) {
	tool := gdbtest.Tool(t, "eu-stack")
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "5")
	want, path := saved(t, p.PID, &report.Flags{})
	end(t, p)
	doc, _ := reopened(t, path, core.Options{}, &report.Flags{})
	out, err := exec.Command(tool, "--core="+path, "-e", want.Exe).CombinedOutput()
	if err != nil {
		t.Fatalf("eu-stack: %v\n%s", err, out)
	}
	stacks := map[int][]uint64{}
	tid := 0
	for _, m := range regexp.MustCompile(`(?m)^(?:TID (\d+):|#\d+ +0x([0-9a-f]+).*)$`).FindAllStringSubmatch(string(out), -1) {
		if m[1] != "" {
			tid, _ = strconv.Atoi(m[1])
			continue
		}
		pc, _ := strconv.ParseUint(m[2], 16, 64)
		stacks[tid] = append(stacks[tid], pc)
	}
	if len(stacks) != len(doc.Threads) || len(stacks) != 6 {
		t.Fatalf("%d threads, elfutils has %d", len(doc.Threads), len(stacks))
	}
	for _, th := range doc.Threads {
		n, pcs := 0, stacks[th.TID]
		for _, f := range th.Frames {
			if f.Type == "inline" || f.Type == "tailcall" {
				continue
			}
			if n == len(pcs) || f.PC.V != pcs[n] {
				t.Fatalf("thread %d: frame %d is at %#x, elfutils has\n%s", th.TID, n, f.PC.V, out)
			}
			n++
		}
		if n != len(pcs) {
			t.Errorf("thread %d: %d frames, elfutils has %d", th.TID, n, len(pcs))
		}
	}
}
