package sniffer_test

import (
	"context"
	"testing"

	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// attach reads the threads of a process. The caller closes the target.
func attach(t testing.TB, pid int) (*live.Target, []target.Thread) {
	t.Helper()
	tg, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	threads, err := tg.Threads()
	if err != nil {
		tg.Close()
		t.Fatal(err)
	}
	return tg, threads
}
