//go:build linux

// Package build makes the programs that the bench runs: its own C programs, sfwalk, and the peers
// that have to be compiled or fetched.
//
// It takes the project's folder, and puts the programs under .cache. If a peer cannot be had, the
// error wraps ErrMissing and says why.
package build
