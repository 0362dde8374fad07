package goruntime

// Injected are the functions that the runtime, or a debugger, makes a thread call at an instruction
// that is no call. DWARF and SFrame do not tell what the instruction's function has kept in
// registers then.
var Injected = map[string]bool{
	"runtime.sigpanic": true, "runtime.sigpanic0": true, "runtime.asyncPreempt": true,
	"runtime.debugCallV1": true, "runtime.debugCallV2": true,
}
