package gdbtest

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
)

// probes is how many probes the tests have made.
var probes atomic.Int32

// ProbeReturns has the kernel probe the returns of a program's function until the test ends: it
// replaces the return address of each call.
func ProbeReturns(t *testing.T, program, function string) {
	t.Helper()
	NeedRoot(t)
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == function })
	if i < 0 {
		t.Fatalf("%s has no function %s", program, function)
	}
	offset := uint64(0)
	for _, p := range f.Progs {
		if at := symbols[i].Value - p.Vaddr; p.Type == elf.PT_LOAD && at < p.Filesz {
			offset = at + p.Off
		}
	}
	dir := t.TempDir()
	tracing := func(script string) error {
		cmd := exec.Command(Tool(t, "unshare"), "--mount", "sh", "-ec", "mount -t tracefs none "+dir+"\ncd "+dir+"\n"+script)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	event := fmt.Sprintf("sfwalk%d/%s%d", os.Getpid(), function, probes.Add(1))
	if err := tracing(fmt.Sprintf("echo 'r:%s %s:%#x' >> uprobe_events\necho 1 > events/%[1]s/enable", event, program, offset)); err != nil {
		Cannot(t, fmt.Sprintf("the kernel probes no returns: %v", err))
	}
	t.Cleanup(func() {
		if err := tracing(fmt.Sprintf("echo 0 > events/%s/enable\necho '-:%[1]s' >> uprobe_events", event)); err != nil {
			t.Error(err)
		}
	})
}
