package delve_test

import (
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/delve"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/delvetest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer/dwarf"
)

// A program has no .eh_frame, but a .debug_frame in a separate debug file.
func TestSeparateDebugFrame(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", "-g", "-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables")
	p := gdbtest.Start(t, gdbtest.Separate(t, program))
	var want []uint64
	for _, f := range gdbtest.Backtrace(t, p.PID)[0].Frames {
		if f.Physical() {
			want = append(want, f.PC)
		}
	}
	tg := open(t, delvetest.Attach(t, p.PID).Selected)
	tg.Table = frame.NewTable(amd64.Arch, &dwarf.Sniffer{})
	frames, err := delve.Stacktrace(tg, delve.Thread(p.PID), 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for i := range frames {
		if n := len(got); n == 0 || got[n-1] != frames[i].PC {
			got = append(got, frames[i].PC)
		}
	}
	if len(want) < 4 || len(got) < len(want) {
		t.Fatalf("%#x, gdb has %#x", got, want)
	}
	for i, pc := range want {
		if got[i] != pc {
			t.Errorf("frame %d is at %#x, gdb has %#x", i, got[i], pc)
		}
	}
}
