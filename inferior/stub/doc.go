// Package stub holds and controls a process that a GDB remote stub controls: gdbserver's, or a
// guest of qemu's user emulation.
//
// It takes the address of a stub and gives a [Process], an [inferior.Process]. Package
// target/remote speaks the protocol; here is what a debugger does with it: stepping over
// breakpoints, states of threads that are put back, signals that wait. Some stubs answer OK to a
// write that they do not make when the thread runs: before the first call, the thread runs where it
// stands, and is read once more (arrive.go).
//
// All threads stand still when one does, as far as the stub sees to that: qemu's user emulation
// lets other threads run on, also when one is to run alone.
//
// When the connection breaks, as it does when this program is killed, the stub alone can put the
// process back, and not all do. A gdbserver of one connection (--once) mostly takes its breakpoints
// away and lets a process go that it has attached to, but may leave one; threads stay where they
// are. qemu lets the guest go on, and leaves its breakpoints. The process or the guest may die of
// one that is left.
package stub
