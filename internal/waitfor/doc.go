// Package waitfor tells for what the threads of a process wait, and which thread holds it: mutexes
// and other locks of glibc and musl, the end of a thread, and locks without an owner, such as
// Rust's.
//
// [CallAt] tells for what a thread waits in other system calls, by their arguments.
//
// [Find] takes a target all of whose threads are of one moment: a core file, or a process whose
// threads were stopped together. A thread that waits is in futex(2): its registers say for which
// word. The thread waits if the word still has the value that the call expects; a lock's other
// fields say who holds it. The names of the functions in which the thread waits tell locks apart.
// Without names, a lock is believed if all of its fields agree, its owner being a thread of the
// process.
package waitfor
