package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	sniffers "github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target/core"
)

const program = "sniffer-twostacks"

// TestMain makes the test binary the plug-in, if a host has started it under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestEveryInstruction has gdb write a core file at each instruction of call_on, and unwinds it.
// call_on's caller must be the one to which gdb sees it return.
func TestEveryInstruction(t *testing.T) {
	gdbtest.NeedAMD64(t)
	source, err := filepath.Abs("target/twostacks.c")
	if err != nil {
		t.Fatal(err)
	}
	path := gdbtest.Compile(t, source, gdbtest.Tool(t, "cc"), "-O2", "-Wall", "-Werror")
	folder := t.TempDir()

	offsets := []int{0, 5, 9, 13, 15, 20}
	const stop = `printf "stop %#lx %#lx %#lx\n", $pc, $rsp, $rbp`
	args := []string{"-nx", "-batch", path, "-ex", "set confirm off", "-ex", "break *call_on", "-ex", "run"}
	for i, offset := range offsets {
		next := "stepi"
		if offset == 13 { // the call: work, which never returns, is made to
			next = "tbreak work\ncontinue\nreturn"
		}
		args = append(args, "-ex", stop, "-ex", "generate-core-file "+filepath.Join(folder, strconv.Itoa(i)))
		for command := range strings.SplitSeq(next, "\n") {
			args = append(args, "-ex", command)
		}
	}
	args = append(args, "-ex", stop, "-ex", "kill")
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	var stops [][3]uint64
	for line := range strings.Lines(string(out)) {
		var s [3]uint64
		if n, _ := fmt.Sscanf(line, "stop %v %v %v", &s[0], &s[1], &s[2]); n == len(s) {
			stops = append(stops, s)
		}
	}
	if len(stops) != len(offsets)+1 {
		t.Fatalf("%d stops, want %d:\n%s", len(stops), len(offsets)+1, out)
	}
	for i, offset := range offsets {
		if at := stops[i][0] - stops[0][0]; at != uint64(offset) {
			t.Fatalf("stop %d is at call_on+%d, want +%d:\n%s", i, at, offset, out)
		}
	}
	caller := stops[len(offsets)]

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin := filepath.Join(folder, program)
	if err := os.Symlink(self, plugin); err != nil {
		t.Fatal(err)
	}
	p, err := external.Start(context.Background(), external.Options{Path: plugin})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i, offset := range offsets {
		tg, err := core.Open(filepath.Join(folder, strconv.Itoa(i)), core.Options{Exe: path})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		threads, err := tg.Threads()
		if err != nil {
			t.Fatal(err)
		}
		table := sniffers.Table(tg.Arch())
		external.Insert(table, p.Sniffer(external.Target{}))
		stack, err := frame.New(tg, threads[0], table)
		if err != nil {
			t.Fatal(err)
		}
		this, err := stack.Frame(0)
		if err != nil || this.Sniffer() != "twostacks" {
			t.Errorf("call_on+%d: %v, claimed by %q: %v", offset, this, this.Sniffer(), errors.Join(err, p.Err()))
			continue
		}
		previous, err := stack.Frame(1)
		if err != nil {
			t.Errorf("call_on+%d: %v", offset, err)
			continue
		}
		a := tg.Arch()
		got := [3]uint64{previous.PC(), previous.Register(a.SP).Bits, previous.Register(a.FP).Bits}
		if got != caller {
			t.Errorf("call_on+%d: PREVIOUS's PC, SP, FP are %#x, gdb has %#x", offset, got, caller)
		}
	}
}
