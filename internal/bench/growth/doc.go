//go:build linux

// Package growth measures `sfwalk attach` on larger and larger processes, with more frames, more
// threads or more modules. The time and memory for one more should stay the same.
//
// It returns tables and a plot, which package plot draws.
package growth
