// Package language gives stacks the frames of languages whose functions are no code of a file:
// Python's, Java's. It is what GDB calls frame filters and decorators.
//
// What enters: a [Process], and then the chain of physical frames of each thread, as a [Stack].
// What leaves: a [Decoration], which says what stands in the place of some physical frames, which
// of them are the interpreter's own, and what the language knows of the thread.
//
// Each language has a [Decorator], in a room of its own below this one. A decorator finds the
// language's run times in a process; each [Runtime] decorates stacks. It reads memory, and never
// touches a physical frame: these keep their levels, IDs and PCs. It says for each group of frames
// where it belongs by an [Anchor]. [Decorate] checks these against the physical frames. A group
// whose anchor is in none of them stands behind the stack, with a warning; it is never guessed in.
package language
