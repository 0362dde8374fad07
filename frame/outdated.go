package frame

import "errors"

// errOutdated says that a frame is used after its stack's Reset, or after a register was written.
var errOutdated = errors.New("the frame is of the stack before its last Reset, or before a register was written")

// outdated reports whether THIS is of another walk than its stack's frames are.
func (f *Frame) outdated() bool { return f.generation != f.stack.generation && !f.ofWalker }
