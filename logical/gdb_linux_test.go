package logical_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// stacks calls do with each thread of a process that stands still, and the process's view.
func stacks(t *testing.T, pid int, do func(*logical.View, *frame.Stack)) {
	t.Helper()
	symbols := symbol.New(symbol.Options{})
	defer symbols.Close()
	stacksBy(t, pid, symbols, do)
}

// stacksBy is stacks with these symbols.
func stacksBy(t *testing.T, pid int, symbols *symbol.Symbolizer, do func(*logical.View, *frame.Stack)) {
	t.Helper()
	p, err := live.Attach(context.Background(), pid, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	threads, err := p.Threads()
	if err != nil {
		t.Fatal(err)
	}
	view := logical.New(p, symbols)
	for _, th := range threads {
		do(view, newStack(t, p, th))
	}
}

func newStack(t *testing.T, p target.Target, th target.Thread) *frame.Stack {
	t.Helper()
	s, err := frame.New(p, th, sniffer.Table(p.Arch()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is a frame as it is compared.
type shown struct {
	typ, function, place string
	id                   frame.ID
}

func (x shown) String() string { return fmt.Sprintf("%s %s %s %v", x.typ, x.function, x.place, x.id) }

func newShown(typ string, pc uint64, function, file string, n int, id frame.ID) shown {
	function, _, _ = strings.Cut(function, "(") // gdb shows parameters in some places only
	return shown{typ, function, fmt.Sprintf("%#x %s:%d", pc, filepath.Base(file), n), id}
}

func ours(t *testing.T, v *logical.View, s *frame.Stack) (list []shown) {
	t.Helper()
	for f, err := range v.All(s) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Level != len(list) {
			t.Errorf("level %d, after %d frames", f.Level, len(list))
		}
		list = append(list, newShown(f.Type.String(), f.PC, f.Function, f.File, f.Line, f.ID()))
	}
	return list
}

func gdbs(th gdbtest.Thread) (list []shown) {
	for _, f := range th.Frames {
		id := frame.ID{Stack: f.CFA, Code: f.Code, Has: frame.HasStack | frame.HasCode}
		switch f.Type {
		case "inline":
			id.Depth = f.Artificial
		case "tailcall":
			id.Tail = f.Artificial
		}
		list = append(list, newShown(f.Type, f.PC, f.Function, f.File, f.Line, id))
	}
	return list
}

// difference returns how our frames differ from gdb's. The outermost has no ID there.
func difference(got, gdb []shown) string {
	for i := 0; i < len(got) || i < len(gdb); i++ {
		n, m := tails(got[min(i, len(got)):]), tails(gdb[min(i, len(gdb)):])
		begins := i == 0 || i <= len(got) && got[i-1].typ != "tailcall"
		if begins && n < m && aroundLoop(got[i:i+n], gdb[i:i+m]) {
			gdb = slices.Concat(gdb[:i], got[i:i+n], gdb[i+m:])
		}
		last := i == len(got)-1 && i == len(gdb)-1
		if i >= len(got) || i >= len(gdb) || got[i] != gdb[i] && !(last && got[i].function == gdb[i].function && got[i].place == gdb[i].place) {
			return fmt.Sprintf("frame %d:\n%v\ngdb has\n%v", i, text(got), text(gdb))
		}
	}
	return ""
}

// tails returns how many tail calls a list begins with.
func tails(list []shown) (n int) {
	for n < len(list) && list[n].typ == "tailcall" {
		n++
	}
	return n
}

// aroundLoop reports whether gdb shows too many tail calls. If there is a way around a loop, gdb
// (13, for one) may show that, though there is a shorter way: when it compares a longer way with
// one that ends in the same way, it forgets that only the length of the shorter one is the same in
// both (chain_candidate in dwarf2/loc.c).
func aroundLoop(got, gdb []shown) bool {
	seen := make(map[string]bool)
	twice := false
	for _, f := range gdb {
		twice = twice || seen[f.function]
		seen[f.function] = true
	}
	at := func(i, j int) bool { return got[i].function == gdb[j].function && got[i].place == gdb[j].place }
	first, last := true, true
	for i := range got {
		first = first && at(i, i)
		last = last && at(i, len(gdb)-len(got)+i)
	}
	return twice && (first || last)
}

func text(list []shown) string {
	var b strings.Builder
	for i, f := range list {
		fmt.Fprintf(&b, "#%d %v\n", i, f)
	}
	return b.String()
}

// compare compares all frames of a process with gdb's, and returns how many tail calls it has seen.
func compare(t *testing.T, pid int) (jumps int) {
	t.Helper()
	want := make(map[int][]shown)
	for _, th := range gdbtest.Backtrace(t, pid) {
		want[th.TID] = gdbs(th)
	}
	stacks(t, pid, func(v *logical.View, s *frame.Stack) {
		got, gdb := ours(t, v, s), want[s.Thread]
		delete(want, s.Thread)
		for _, f := range got {
			if f.typ == "tailcall" {
				jumps++
			}
		}
		if why := difference(got, gdb); why != "" {
			t.Errorf("thread %d, %s", s.Thread, why)
		}
	})
	if len(want) > 0 {
		t.Errorf("without the threads %v", want)
	}
	return jumps
}
