package main

import (
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
)

// A form is what must be known of code, beside its bytes, to follow its frame.
type form uint8

const (
	ordinary form = iota // as the ABI has it: the return address is on the stack, or in its register
	// Of V8, on amd64. Its baseline code begins with a call of a builtin, which sets up
	// the frame record; a builtin that is jumped to takes it down.
	framedByCall // what the first call leaves is a body
	framed       // the record is there from the beginning
	calledTwice  // behind the return address, the word on the stack, is the caller's
)

// formOf returns the form of code with the name that V8 has given it.
func formOf(a *arch.Arch, name string) form {
	kind, rest, _ := strings.Cut(name, ":")
	switch {
	case a != amd64.Arch:
	case javaScript[kind] && strings.HasPrefix(rest, "^"):
		return framedByCall
	case name == "Builtin:BaselineOutOfLinePrologue":
		return calledTwice
	case name == "Builtin:BaselineLeaveFrame":
		return framed
	}
	return ordinary
}

// isV8 reports whether a name is one that V8 gives.
func isV8(name string) bool {
	kind, _, ok := strings.Cut(name, ":")
	return ok && (javaScript[kind] || kind == "Builtin" || kind == "BytecodeHandler" || kind == "Stub")
}
