//go:build linux

// Package record measures what it costs to sample a process, and to name what was found, beside
// Linux's perf, which keeps the stacks in a file and unwinds them later.
package record
