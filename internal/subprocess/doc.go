// Package subprocess runs processes that do not outlive this one, however it ends, with all that
// they start and the folder of their files: plug-ins.
//
// What enters is a command; what leaves is how it ended.
//
// On Linux a process of this program's own sees to it, a keeper: the program once more
// (/proc/self/exe), which this package turns into a keeper before main. It starts the command, and
// what the command's children leave behind becomes its own children
// (PR_SET_CHILD_SUBREAPER). When the command has ended, or the socket that leads to this
// process breaks, it kills them all, and removes the folder. The command itself also ends when the
// keeper does (PR_SET_PDEATHSIG). Elsewhere the command is to watch for the end of its
// standard input, and is ended with its process group by this process.
package subprocess
