// Package delve is the engine inside Delve: it makes a [target.Target] of a process or
// a core file that Delve controls, and answers with what Delve's clients understand.
//
// Enters: a [proc.Target], native, core or gdbserial. Leaves: [Target] for the engine,
// and by [Stacktrace] and [Frames] the frames of a thread or a goroutine, Go and C
// mixed, each with the scope in which Delve evaluates expressions.
//
// It is for Linux on amd64 and arm64: elsewhere the package is empty. Whoever calls it
// holds Delve's lock of the target ([debugger.Debugger.LockTargetGroup]).
//
// [target.Target]: https://pkg.go.dev/github.com/sfwalk/sfwalk/target#Target
// [proc.Target]: https://pkg.go.dev/github.com/go-delve/delve/pkg/proc#Target
// [debugger.Debugger.LockTargetGroup]: https://pkg.go.dev/github.com/go-delve/delve/service/debugger#Debugger.LockTargetGroup
package delve
