//go:build linux

package gdbtest

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"testing"
)

//go:embed returned.py
var returnedPy string

// Returned lets the process run until a thread reaches the address to with the stack pointer sp: a
// function that gdb does not know has returned there. It returns gdb's stack of that thread at that
// moment, with registers. The process gets the signal, which makes it leave the function.
func Returned(t testing.TB, pid int, signal string, to, sp uint64) Thread {
	t.Helper()
	params := map[string]any{"pid": pid, "signal": signal, "to": to, "sp": sp}
	var thread Thread
	for _, record := range runGDB(t, returnedPy, params, "-p", strconv.Itoa(pid)) {
		if err := json.Unmarshal(record, &thread); err != nil {
			t.Fatalf("gdb's answer for process %d: %v", pid, err)
		}
	}
	return thread
}
