package stacks_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
	target "github.com/sfwalk/sfwalk/target/minidump"
)

// TestLocalsOfMinidumpAsGDB compares what `sfwalk minidump --locals` prints of a minidump of
// LLDB's, and of one of our own, with gdb's bt full of the process that they are of. These
// minidumps have the stacks, and no other memory that a process has written.
func TestLocalsOfMinidumpAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	program := valuetest.Compile(t, valuetest.C(7), valuetest.Build{Compiler: "gcc", Flags: []string{"-O2", "-g"}})
	p := gdbtest.Start(t, program)
	want := valuetest.Parse(t, gdbtest.Full(t, p.PID, ""))
	t.Run("own", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "dump")
		if out, stderr, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", path, "--format", "minidump"); err != nil {
			t.Fatalf("%v: %s%s", err, out, stderr)
		}
		localsOfMinidump(t, program, path, want)
	})
	t.Run("lldb", func(t *testing.T) { localsOfMinidump(t, program, commandtest.LLDBDump(t, p.PID), want) })
}

var (
	noMemory = regexp.MustCompile(`Cannot access memory at address (0x[0-9a-f]+)`)
	noThread = regexp.MustCompile(`^<error reading variable \w+ \(Cannot find thread-local storage: the thread pointer is not known\)>$`)
)

// localsOfMinidump compares one minidump.
func localsOfMinidump(t *testing.T, program, path string, want []gdbtest.FullThread) {
	t.Helper()
	dump, err := target.Open(path, target.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	counts := valuetest.Tally{Constants: valuetest.ByteConstants(t, program), Known: func(d gdbtest.FullDifference) string {
		if at := noMemory.FindStringSubmatch(d.Got); at != nil {
			addr, err := strconv.ParseUint(at[1], 0, 64)
			if err == nil && !slices.ContainsFunc(dump.Dump.Memory, func(r minidump.Range) bool { return addr-r.Lo < uint64(r.Size) }) {
				return "the memory is not in the dump"
			}
		}
		if noThread.MatchString(d.Got) {
			return "the dump does not have the thread pointer, nor the memory in which the C library keeps it"
		}
		return ""
	}}
	out, lost := locals(t, []string{"--raw"}, "minidump", path)
	counts.Add(t, gdbtest.CompareFull(want, valuetest.Parse(t, out)), lost)
	if counts.Values < 100 || 10*counts.Equal < 9*counts.Values {
		t.Errorf("of %d values only %d are equal", counts.Values, counts.Equal)
	}
	counts.Log(t)
}
