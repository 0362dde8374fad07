// Package inferior has the words for a process that is held and controlled. Inferior is GDB's word.
//
// A [Process] is a target whose threads stand still: its stacks can be walked, its registers and
// its memory can be written. It runs only when somebody has it run, and stops again at the next
// [Event]. The packages below this one make such processes: inferior/native holds a live process of
// this machine by ptrace, inferior/stub one that a GDB remote stub controls.
//
// What stands on a Process is here: [Call] makes a thread call a function.
package inferior
