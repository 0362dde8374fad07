// Package capture lets a Go program walk its own stack, C's frames included: a goroutine captures
// its context, as exc_capture_context of the Alpha calling standard does.
//
// [Context.Capture] copies the registers and the goroutine's stack, which may move from then on.
// [Program] is the program as a target; with a context it is a [target.Target], in whose one thread
// frame 0 is the function that has called Capture. Where C has called Go, the stack goes on through
// C's frames on the thread's own stack, which stays where it is until Capture's caller returns to
// C: walk it before.
//
// Other threads of the program cannot be captured: that takes another process (package
// target/live).
package capture
