//go:build amd64

package sniffer_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A probe has replaced return addresses. The program says which function has called the probed one.
func TestReturnProbe(t *testing.T) {
	for _, flags := range [][]string{{"-g", "-O2"}, {"-g", "-O2", "-no-pie", "-static"}, {"-O1", "-fno-omit-frame-pointer", "-Wa,--gsframe"}} {
		program := gdbtest.Build(t, "uretprobe.c", flags...)
		gdbtest.ProbeReturns(t, program, "probed")
		for how, want := range map[string][]string{
			"once":     {"probed", "[uprobes]", "once", "main"},
			"twice":    {"probed", "[uprobes]", "twice", "main"},
			"indirect": {"probed", "[uprobes]", "indirect", "main"},
			"deep":     {"probed", "[uprobes]", "probed", "[uprobes]", "probed", "[uprobes]", "once", "main"},
		} {
			p := gdbtest.Start(t, program, how)
			names, stops := stackNames(t, p.PID)
			at := slices.Index(names[0], "probed")
			if at < 0 || len(names[0]) < at+len(want) || !slices.Equal(names[0][at:at+len(want)], want) || stops[0] != frame.Outermost {
				t.Errorf("%q %s: %q, %s", flags, how, names[0], stops[0])
			}
			bothWays(t, p.PID)
			p.Stdin.Close()
			if err := p.Exit(t); err != nil {
				t.Errorf("%s: %v", how, err) // the target is as it was
			}
		}
	}
}

// The code of the vsyscall page cannot be read. The processor says which function has called it.
func TestVsyscall(t *testing.T) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(maps, []byte("[vsyscall]")) {
		gdbtest.Cannot(t, "the kernel has no vsyscall page")
	}
	program := gdbtest.Build(t, "vsyscall.c", "-O2", "-g")
	lo, hi := rangeOf(t, program, "main")
	s := &returnSteps{t: t}
	s.run(program, lo, hi)
	s.compare(false)
	const page = 0xffffffffff600000
	if n := len(slices.DeleteFunc(s.pcs, func(pc uint64) bool { return pc < page })); n < 3 {
		t.Errorf("%d instructions in the page", n)
	}
}
