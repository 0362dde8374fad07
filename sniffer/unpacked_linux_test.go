//go:build amd64

package sniffer_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// TestUnpacked: a program in memory of no file has its tables and its dynamic symbols.
func TestUnpacked(t *testing.T) {
	for _, flags := range [][]string{{"-O2", "-rdynamic"}, {"-O2", "-rdynamic", "-no-pie"}, {"-O2", "-rdynamic", "-Wl,-z,noseparate-code"}} {
		p := gdbtest.Start(t, gdbtest.Build(t, "unpacked.c", flags...))
		tg, err := live.Attach(context.Background(), p.PID, live.Options{})
		if err != nil {
			t.Fatal(err)
		}
		threads, err := tg.Threads()
		if err != nil {
			t.Fatal(err)
		}
		table := sniffer.Table(tg.Arch())
		stack, err := frame.New(tg, threads[0], table)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for f, err := range stack.All() {
			if err != nil {
				t.Error(err)
				continue
			}
			m := f.Module()
			if m == nil {
				t.Errorf("%q: %v is in no module", flags, f)
				continue
			}
			if !strings.HasPrefix(m.Path, "[elf 0x") {
				continue
			}
			if row := f.Row(); row.Flags&trad.Guess != 0 || f.Sniffer() == "prologue" {
				t.Errorf("%q: %v is found by %s", flags, f, f.Sniffer())
			}
			im, bias, err := m.Image()
			if err != nil {
				t.Fatal(err)
			}
			s, _ := im.Symbols().Find(f.AddressInBlock() - bias)
			names = append(names, im.Symbols().Name(s))
		}
		if want := []string{"inner", "middle", "middle", "outer", "main", "_start"}; !slices.Equal(slices.DeleteFunc(names, func(n string) bool { return n == "block" || n == "" }), want) {
			t.Errorf("%q: %q, want %q", flags, names, want)
		}
		if err := walktest.New(tg.Modules(), table).Check(tg, threads[0]); err != nil {
			t.Error(err)
		}
		tg.Close()
	}
}
