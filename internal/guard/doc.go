// Package guard is the process that holds a live process for package inferior/native: this program,
// started once more (/proc/self/exe), which an init function turns into the guard. Start starts
// one. The owner, the program that has started it, sends a Request over a socket, and receives a
// Reply.
//
// The guard knows at any time what must be put back: the code where breakpoints stand, the
// registers of threads that were made to run something else, signals that have come and were not
// delivered. It notes that before it changes anything. When the socket breaks it puts everything
// back, lets the threads go, and ends.
//
// Whoever has a process call a function waits for its guard to begin. So the package imports what
// is initialised first: no fmt, no encoding/binary, which need package reflect, and no
// golang.org/x/sys.
package guard
