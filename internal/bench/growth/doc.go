//go:build linux

// Package growth measures `sfwalk attach` on larger and larger processes: more frames,
// more threads, more modules. Time and memory of one more shall stay the same.
//
// Tables and a picture leave; it is drawn by package plot.
package growth
