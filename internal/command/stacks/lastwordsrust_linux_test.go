package stacks_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// rustWords is the last panic that std's hook has written to standard error: its place and message.
func rustWords(said string) string {
	said = regexp.MustCompile(`(?m)^(note: run with .*|thread caused non-unwinding panic\. aborting\.|)\n`).ReplaceAllString(said, "")
	i := strings.LastIndex(said, " panicked at ")
	said, _, _ = strings.Cut(said[i+1:], "\nstack backtrace:\n") // which is there if the panic may not unwind
	return strings.TrimRight(said, "\n")
}

// TestLastWordsOfRust: the message and the place of a panic are the ones that Rust's std has
// written, with and without debug information, and whether the message is a constant or a format.
func TestLastWordsOfRust(t *testing.T) {
	const from = "the panic of Rust's std"
	rustc := gdbtest.Tool(t, "rustc")
	source := gdbtest.Testdata(t, "progs", "lastwords.rs")
	t.Setenv("RUST_BACKTRACE", "0")
	aborts := []string{"literal", "format", "index", "unwrap", "expect", "result", "assert", "assert2", "overflow", "slice", "unreachable", "thread", "refcell", "cannot"}
	for _, tt := range []struct {
		flags []string
		ways  []string
	}{
		{[]string{"--edition=2021", "-O", "-Cpanic=abort"}, aborts},
		{[]string{"--edition=2018", "-g", "-Cpanic=abort"}, []string{"literal", "format", "overflow", "result"}},
		{[]string{"--edition=2021", "-O", "-Cpanic=abort", "-Cstrip=debuginfo"}, []string{"literal", "format", "index", "unwrap"}},
		{[]string{"--edition=2021", "-Cpanic=unwind"}, []string{"cannot", "double"}},
	} {
		program := gdbtest.Compile(t, source, append([]string{rustc}, tt.flags...)...)
		for _, way := range tt.ways {
			t.Run(fmt.Sprint(way, tt.flags), func(t *testing.T) {
				core, said := coreAndWords(t, program, way)
				hasWords(t, rustWords(said), from, "sfwalk core", "core", core)
			})
		}
	}
	program := gdbtest.Compile(t, source, rustc, "--edition=2021", "-O", "-Cpanic=abort")
	core, said := coreAndWords(t, program, "abort")
	hasWords(t, said, "", "sfwalk core", "core", core)
	_, said = coreAndWords(t, program, "refcell")
	p := gdbtest.Start(t, program, "refcell", "hang")
	hasWords(t, rustWords(said), from, "sfwalk attach", "attach", fmt.Sprint(p.PID))
}
