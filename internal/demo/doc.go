// Package demo starts a small program with interesting stacks: several
// threads, recursion, a signal handler on an alternate stack, an inlined
// call, a function with and one without a frame pointer, all described by an
// SFrame V3 section.
//
// Enters: nothing; the program is embedded (its source and the command that
// builds it are in target/). Leaves: a running process that stands still, to
// attach to. It is for linux/amd64; elsewhere Start says so.
package demo

import "errors"

// ErrPlatform is returned by Start where the demo target cannot run.
var ErrPlatform = errors.New("the demo target runs on linux/amd64 only")
