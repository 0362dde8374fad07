// Package waits says for what the threads of a target wait: which thread waits for which lock, and
// who holds it; for which file, socket or child a thread waits in a system call. Locks have
// the names of variables, of their members, or of paths that lead from a frame's variable to them.
package waits
