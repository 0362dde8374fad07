// Package delve is the engine inside Delve: it makes a [target.Target] of a process or
// a core file that Delve controls, and returns stacks in the types of Delve's API.
//
// A [proc.Target] goes in: native, core or gdbserial. A [Target] for the engine comes out.
// [Stacktrace] and [Frames] return the frames of a thread or a goroutine, Go and C mixed, each with
// the scope in which Delve evaluates expressions. [Call] has a thread call a C function.
//
// The package is empty but on Linux on amd64 and arm64: Delve compiles for no other processor that
// has a descriptor below arch, and so each file here and in delve/server has a build tag. Its
// callers hold Delve's lock of the target ([debugger.Debugger.LockTargetGroup]).
//
// [target.Target]: https://pkg.go.dev/github.com/sfwalk/sfwalk/target#Target
// [proc.Target]: https://pkg.go.dev/github.com/go-delve/delve/pkg/proc#Target
// [debugger.Debugger.LockTargetGroup]: https://pkg.go.dev/github.com/go-delve/delve/service/debugger#Debugger.LockTargetGroup
package delve
