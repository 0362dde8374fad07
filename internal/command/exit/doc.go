// Package exit has how a command of sfwalk ends: exit codes, the errors that lead to them, and
// mistakes in the command line with what the user is told about them.
//
// A command returns an error: [ErrEarly] if everything was printed and some stack is not whole,
// [Misuse] for a wrong command line, [With] for an exit code of its own. Package command turns the
// error into the exit code of the program.
package exit
