// Package report walks the stacks of a target, a [Source], and makes a [Document] of them, as the
// [Flags] of a command ask for it. All that is read of threads, values and debug files on the way
// is read here; package show prints it.
//
// A [Walker] walks one thread after the other, several walkers at the same time. [Print] has a
// [Printer] turn each frame into text as it comes, [Gather] gives whole stacks one after the other,
// and [Collect] returns a whole document instead.
package report
