// Package processes finds the processes that a verb is to look at: by their PIDs, their names,
// their parents, their control groups and their containers. A [Chosen] has the flags, and what
// they mean on this machine.
package processes
