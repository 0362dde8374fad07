package gdbtest

import (
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/breakpadpeer"
)

// Breakpad returns the path of one of Breakpad's tools: minidump_stackwalk, minidump_dump or
// dump_syms.
func Breakpad(t testing.TB, tool string) string {
	t.Helper()
	return breakpad(t)(breakpadpeer.Tool(tool))
}

// BreakpadSource returns the folder that has Breakpad's src, with its client for Linux, and
// third_party, which that needs.
func BreakpadSource(t testing.TB) string {
	t.Helper()
	return breakpad(t)(breakpadpeer.Source())
}

// breakpad ends the test where Breakpad cannot be had: without npm or the network.
func breakpad(t testing.TB) func(path string, err error) string {
	t.Helper()
	return func(path string, err error) string {
		t.Helper()
		FromNPM(t, err)
		return path
	}
}
