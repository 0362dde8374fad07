package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
)

// stackNames returns the names of the frames of each thread of a process, the oldest thread first,
// and how each stack ends.
func stackNames(t *testing.T, pid int) (names [][]string, stops []frame.StopReason) {
	t.Helper()
	tg, threads := attach(t, pid)
	defer tg.Close()
	symbols := symbol.New(symbol.Options{})
	for _, th := range threads {
		stack, err := frame.New(tg, th, sniffer.Table(tg.Arch()))
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		stop := frame.NoReason
		for f, err := range stack.All() {
			if err == nil {
				list = append(list, symbols.Locate(tg.Modules(), f.AddressInBlock())[0].Function)
				stop = f.StopReason()
			}
		}
		names, stops = append(names, list), append(stops, stop)
	}
	return names, stops
}

// A program's own entry may be a function of C, of which a table says that it has a caller.
func TestEntryInC(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O1"}, {"-O2"}, {"-O1", "-fno-omit-frame-pointer"}, {"-O1", "-DHERE"}, {"-O1", "-fno-asynchronous-unwind-tables"}} {
		program := gdbtest.Build(t, "entry.c", append([]string{"-nostdlib", "-static", "-fno-stack-protector"}, flags...)...)
		for _, args := range [][]string{nil, {"one"}, {"one", "two", "three", "four"}} {
			p := gdbtest.Start(t, program, args...)
			names, stops := stackNames(t, p.PID)
			want := []string{"work", "work", "work", "_start"}
			if slices.Contains(flags, "-DHERE") {
				want = []string{"_start"}
			}
			got := slices.DeleteFunc(names[0], func(name string) bool { return name == "call" })
			if !slices.Equal(got, want) || stops[0] != frame.Outermost {
				t.Errorf("%q with %q: %q, %s", flags, args, got, stops[0])
			}
			bothWays(t, p.PID)
		}
	}
}

// The code that begins a thread needs no table. The program says which function has called the
// thread's.
func TestThreadsWithoutTables(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-static"}, {"-O0"}, {"-O1", "-fno-omit-frame-pointer"}} {
		p := gdbtest.Start(t, gdbtest.Build(t, "rawclone.c", flags...))
		names, stops := stackNames(t, p.PID)
		if len(names) != 3 {
			t.Fatalf("%d threads", len(names))
		}
		for i, last := range []string{"clones", "clones_last"} {
			list := names[i+1]
			at := slices.Index(list, "waits")
			if want := []string{"waits", "thread", last}; at < 0 || !slices.Equal(list[at:], want) || stops[i+1] != frame.Outermost {
				t.Errorf("%q: %q, %s", flags, list, stops[i+1])
			}
		}
		bothWays(t, p.PID)
	}
}
