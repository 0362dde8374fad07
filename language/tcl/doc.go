// Package tcl knows the frames of Tcl's procedures.
//
// What enters: a process, in which the package finds Tcl by a symbol, and then stacks. What leaves:
// what Tcl's own command "info frame" says of the same moment: procedures, methods, lambdas and
// scripts, with files and lines, in the place of the physical frames that run them.
//
// Tcl's calls are on its heap. Each physical frame of TclNRRunCallbacks runs the callbacks that
// were pushed since it began; the innermost callback that it leaves alone is in one of its
// registers, as the interpreter and the callback that it runs are. A callback has the address of
// the command's record that it will go on with: so the records are divided among these frames.
package tcl
