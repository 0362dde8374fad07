//go:build linux

// Package process starts the processes to attach to, from internal/bench/programs. Each is ready
// when Start returns, and ends with the bench, however that ends.
//
// Processes with Ticks have a thread that sleeps for 50 µs over and over, and a deep one that does
// the same. Ticks returns the longest time that each was away.
package process
