// Package dependent starts processes that do not outlive this one, however it ends, and that take
// what they have started along: plug-ins.
//
// What enters is a command; what leaves is how it ended. On Linux the kernel sees to it; elsewhere
// the process is to watch for the end of its standard input.
package dependent
