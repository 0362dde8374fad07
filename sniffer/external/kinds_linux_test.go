package external_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// A plug-in's frames are of the types that it says, with the special address that it says, and lead
// where gdb says.
func TestKinds(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := gdbtest.Build(t, "recurse.c", "-g", "-O2", "-fno-omit-frame-pointer")
	process := gdbtest.Start(t, program, "40")
	want := gdbtest.Backtrace(t, process.PID)[0].Frames
	p, err := start(t, "kinds", external.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tg, err := live.Attach(t.Context(), process.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	table := sniffer.Table(tg.Arch())
	external.Insert(table, p.Sniffer(external.Target{PID: process.PID, Live: true}))
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	types := map[trad.Flags]frame.Type{
		0: frame.Normal, trad.Injected: frame.Normal, trad.Inline: frame.Inline, trad.TailCall: frame.TailCall,
		trad.Dummy: frame.Dummy, trad.OtherStack: frame.OtherStack, trad.Signal: frame.SigTramp,
	}
	seen, inner, n := 0, trad.Flags(0), 0
	for f, err := range stack.All() {
		if err != nil {
			t.Fatal(err)
		}
		if n >= len(want) {
			t.Fatalf("more frames than gdb's %d: %v", len(want), f)
		}
		w := want[n]
		if n++; f.PC() != w.PC {
			t.Fatalf("%v: gdb has %#x", f, w.PC)
		}
		if f.Sniffer() != "kinds" {
			inner = 0
			continue
		}
		seen++
		flags := plugintest.Kinds[f.Level%len(plugintest.Kinds)]
		if cfa, _ := f.CFA(); cfa != w.CFA || f.Type() != types[flags] {
			t.Errorf("%v of %s is of type %v with CFA %#x, want %v and gdb's CFA %#x", f, w.Function, f.Type(), cfa, types[flags], w.CFA)
		}
		if got, by := f.AddressInBlock() == f.PC(), inner&(trad.Dummy|trad.Injected|trad.Signal) != 0; got != by {
			t.Errorf("%v: interrupted is %v, want %v", f, got, by)
		}
		id := f.ID()
		if has := f.Level%2 == 1; (id.Has&frame.HasSpecial != 0) != has || has && id.Special != uint64(f.Level) {
			t.Errorf("%v: ID %v", f, id)
		}
		inner = flags
	}
	if n != len(want) || seen != 40 {
		t.Errorf("%d frames, %d by the plug-in; gdb has %d, of which the plug-in claims 40", n, seen, len(want))
	}
	if err := walktest.New(tg.Modules(), table.Clone()).Check(tg, threads[0]); err != nil {
		t.Error(err)
	}
	if err := p.Err(); err != nil {
		t.Error(err)
	}
}
