//go:build linux

// Package process starts the processes that are attached to: of internal/bench/programs, each
// ready when Start returns, each ended with the bench, however it ends.
//
// Processes with Ticks have a thread that sleeps for 50 µs over and over, and a deep
// one that does the same; the longest time that each was away for leaves.
package process
