// Package rust lists the tasks of Rust's asynchronous run times in a process: what each async
// function waits for, and where.
//
// A compiled language has no tables for its run time: all is read from debug information (DWARF).
// rustc makes an async function a type with variants, one for each place where it may wait. Such a
// variant's entry has the place's file and line, and its member __awaitee is the future that is
// waited for: so a task is followed down to the future that is no async function.
//
// Of tokio, all tasks are found: a thread's own storage leads to the scheduler, which lists them.
// So do executors of async-executor, which smol and async-std use: they are in variables, or in
// what a future runs. A future for which a thread waits, as main's, is in the frame of the function
// that waits.
//
// The code that polls a task has the type of its future for a generic argument; so do the methods
// of a future behind a pointer to "dyn Future".
package rust
