//go:build linux

package gdbtest

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// registers are gdb's names, in the order of their DWARF numbers.
var registers = []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"}

// registerNames are gdb's names of the registers by DWARF number, as frames.py wants them.
func registerNames() map[int]string { return maps.Collect(slices.All(registers)) }

// runGDB runs this machine's gdb with a script and args and returns the
// script's records.
func runGDB(t testing.TB, script string, params map[string]any, args ...string) []json.RawMessage {
	t.Helper()
	params = maps.Clone(params)
	params["names"] = registerNames()
	s := StartScript(t, "gdb", script, params, args...)
	var records []json.RawMessage
	for {
		record := s.Next(t)
		if record == nil {
			return records
		}
		records = append(records, record)
	}
}
