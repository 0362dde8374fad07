package sniffer_test

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
)

// Guesses at code that is made at run time compete by what speaks for them. The program itself says
// who has called the code. Where it has more words on the stack, only a scan finds its caller,
// which has called code that jumps there.
func TestMadeCode(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "madecode.c", "-O1", "-no-pie", "-fno-optimize-sibling-calls")
	for _, tt := range []struct {
		code, caller string
		options      sniffer.Options
	}{
		{"shared", "framed", sniffer.Options{}},
		{"stale", "framed", sniffer.Options{}},
		{"kept", "framed", sniffer.Options{}},
		{"top", "framed", sniffer.Options{}},
		{"endless", "framed", sniffer.Options{}},
		{"deep", "through", sniffer.Options{Scan: true}},
	} {
		t.Run(tt.code, func(t *testing.T) {
			p := gdbtest.Start(t, program, tt.code)
			tg, threads := attach(t, p.PID)
			defer tg.Close()
			table := frame.NewTable(tg.Arch(), tt.options.Default()...)
			stack, err := frame.New(tg, threads[0], table)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for f, err := range stack.All() {
				if err != nil {
					t.Errorf("the stack ends early: %v", err)
					break
				}
				names = append(names, functionOf(f))
			}
			want := []string{"waits", "?", tt.caller, "depth", "depth", "depth", "depth", "main"}
			i := slices.Index(names, "waits")
			if i < 0 || i+len(want) > len(names) || !slices.Equal(names[i:i+len(want)], want) {
				t.Errorf("%q, want %q", names, want)
			}
			if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
				t.Error(err)
			}
		})
	}
}
