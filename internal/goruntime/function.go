package goruntime

import "strings"

// The functions that change stacks, by their names without the ABI.
const (
	Systemstack = "runtime.systemstack"
	Asmcgocall  = "runtime.asmcgocall"
	Cgocallback = "runtime.cgocallback"
	Morestack   = "runtime.morestack"
	Mcall       = "runtime.mcall"
)

// Base returns a function's name as the source has it, without the ABI that linkers add.
func Base(name string) string { return strings.TrimSuffix(name, ".abi0") }

// CalledByC are the functions that C calls. They preserve the registers that C's calling convention
// requires.
var CalledByC = map[string]bool{
	"crosscall2": true, "runtime.sigtramp": true, "runtime.cgoSigtramp": true, "runtime.sigprofNonGoWrapper": true,
	"_rt0_amd64_lib": true, "_rt0_arm64_lib": true, "_rt0_s390x_lib": true, "setg_gcc": true, "_cgo_topofstack": true,
	"runtime.load_g": true, "runtime.save_g": true, // called by these
}

// neverReturns reports whether a function of the runtime does not return. The state at its call is
// then not the state of the code behind the call. morestack counts as such a function: where it
// comes back to, registers are as they were before the call.
func neverReturns(name string) bool {
	switch name = Base(name); name {
	case "runtime.abort", "runtime.badmcall", "runtime.badmcall2", "runtime.badmorestackg0", "runtime.badmorestackgsignal", "runtime.badsystemstack":
		return true
	}
	return strings.HasPrefix(name, Morestack)
}
