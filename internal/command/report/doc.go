// Package report prints the stacks of a target: as text, as JSON, merged into one list, tree or
// picture. A verb opens a target as a [Source], has the flags of [Flags], and calls [Show]; all
// that is read of threads, goroutines, values, waits and debug files on the way is done here.
//
// A [Walker] walks one thread after the other, several walkers at the same time; a [Printer] turns
// each frame into text as it comes. [Collect] returns a whole [Document] instead.
package report
