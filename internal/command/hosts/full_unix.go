//go:build unix

package hosts

import "syscall"

// become replaces this program by another, in the same process.
func become(path string, argv, env []string) error { return syscall.Exec(path, argv, env) }
