//go:build linux

// Package build makes what the bench runs: its own C programs, sfwalk, and the peers
// that have to be compiled or fetched.
//
// What enters is the project's folder; programs leave, under .cache. Where a peer
// cannot be had, the error wraps ErrMissing and says why.
package build
