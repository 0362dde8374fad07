package malloc

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// TestFree: no block of a program that is in use is free, and the others are. Without a setting,
// malloc keeps some of them for the next who asks for such a block.
func TestFree(t *testing.T) {
	t.Run("kept", func(t *testing.T) { blocks(t) })
	t.Run("none is kept", func(t *testing.T) {
		t.Setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0")
		if kept := blocks(t); kept > 10 { // the library takes some itself, for its threads
			t.Errorf("%d blocks are free, and count as in use", kept)
		}
	})
}

// blocks compares what Free says with what a program does, and returns how many blocks count as in
// use that the program has freed.
func blocks(t *testing.T) (kept int) {
	src, err := filepath.Abs("testdata/blocks.c")
	if err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Compile(t, src, gdbtest.Tool(t, "gcc"), "-g", "-pthread", "-w"))
	used := map[uint64]bool{}
	var addrs []uint64
	for {
		line, err := p.Stdout.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line == "end" {
			break
		}
		var at uint64
		var now int
		if _, err := fmt.Sscanf(line, "0x%x %d", &at, &now); err != nil {
			t.Fatal(err)
		}
		used[at] = used[at] || now == 1
		addrs = append(addrs, at)
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{Consistent: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	list := procmaps.Writable(tg.Maps(nil), tg.Modules())
	free := 0
	for i, is := range Free(tg.Arch(), tg.Memory(), list, addrs) {
		switch {
		case is && used[addrs[i]]:
			t.Errorf("%#x is in use", addrs[i])
		case is:
			free++
		case !used[addrs[i]]:
			kept++
		}
	}
	t.Logf("of %d blocks %d are free, %d more are kept", len(addrs), free, kept)
	if free == 0 {
		t.Error("none is free")
	}
	return kept
}
