package threadlocal_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/threadlocal"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/live"
)

// TestSpecific holds the values of keys against what pthread_getspecific returns in each thread.
func TestSpecific(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "keys.c", "-O1", "-pthread"))
	want := map[int]map[uint32]uint64{}
	for range 2 {
		var id int
		var keys [2]uint32
		var values [2]uint64
		if _, err := fmt.Fscanf(p.Stdout, "%d %d 0x%x %d 0x%x\n", &id, &keys[0], &values[0], &keys[1], &values[1]); err != nil {
			t.Fatal(err)
		}
		want[id] = map[uint32]uint64{keys[0]: values[0], keys[1]: values[1], keys[0] + 1: 0}
	}
	p.Rest(t)
	tg, err := live.Attach(context.Background(), p.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, err := tg.Threads()
	if err != nil || len(threads) != 2 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	f := threadlocal.New(tg.Arch(), tg.Memory(), tg.Modules())
	for _, th := range threads {
		stack, err := frame.New(tg, th, sniffer.Table(tg.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		for innermost, err := range stack.All() {
			if err != nil {
				t.Fatal(err)
			}
			tp, ok := threadlocal.Pointer(tg.Arch(), innermost)
			for key, value := range want[th.ID()] {
				if got, err := f.Specific(tg.Memory(), tp, key); err != nil || got != value || !ok {
					t.Errorf("thread %d, key %d: %#x, %v, want %#x", th.ID(), key, got, err, value)
				}
			}
			break
		}
	}
}
