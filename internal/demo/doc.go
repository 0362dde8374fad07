// Package demo starts a small program with interesting stacks: several
// threads, recursion, a signal handler on an alternate stack, an inlined
// call, a function with and one without a frame pointer, all described by an
// SFrame V3 section.
//
// The program is embedded; its source and the command that builds it are in
// target/. Out comes a running process that stands still, to attach to, on Linux
// on amd64, arm64 and s390x; elsewhere Start returns an error. Where the machine is
// emulated and neither runs programs nor traces them, there is a process that has
// died: a core file of a program with two signal handlers.
package demo

import (
	"errors"
	"fmt"
	"runtime"
)

// Errors of Start; test with errors.Is.
var (
	ErrPlatform = errors.New("the demo target runs on Linux of amd64, arm64 and s390x only")
	ErrEmulated = errors.New("programs of this architecture do not run here: is it emulated?")
)

// The bundled files for this platform, nil if there are none. A file for each processor fills them
// in, so that a program embeds the files of its own processor alone.
var (
	program               []byte
	deadProgram, deadCore []byte // an emulated amd64 host has none
)

// platformError returns ErrPlatform with this machine's platform.
func platformError() error {
	return fmt.Errorf("%w, this is %s/%s", ErrPlatform, runtime.GOOS, runtime.GOARCH)
}
