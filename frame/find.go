package frame

import "github.com/sfwalk/sfwalk/trad"

// Find returns the frame with an ID, as GDB's frame_find_by_id does: a debugger finds the frame
// again after the thread has run. It makes frames from the innermost outwards until it has found
// it, or has come past its place: if the place is between a normal frame and its PREVIOUS, the
// frame is gone. The ID is a physical frame's: inlined and tail-called ones are package logical's.
// If the stack has no such frame, Find returns nil; the error is nil if the stack is whole, else it
// says why it ends early.
func (s *Stack) Find(id ID) (*Frame, error) {
	var this ID
	normal := false // the type of the frame before
	for f, err := range s.All() {
		if err != nil {
			return nil, err
		}
		next := this
		if this = f.ID(); this.Equal(id) {
			return f, nil
		}
		if normal && !id.Inner(next, s.arch, nil) && id.Inner(this, s.arch, nil) {
			return nil, nil
		}
		normal = f.typ == Normal && !this.Null()
	}
	return nil, nil
}

// Function returns the address at which THIS frame's function begins, by symbols, or else by the
// tables of the sniffer that has claimed THIS. It is the code address of THIS frame's ID.
func (f *Frame) Function() (addr uint64, ok bool) {
	id := f.ID()
	return id.Code, id.Has&HasCode != 0
}

// PrevRegister returns the value of register r in PREVIOUS, without making PREVIOUS, as GDB's
// frame_unwind_register does. Call it where PREVIOUS need not be made, or cannot be: it tells to
// which PC the last frame of a stack with a Limit returns. PC may have bits that are not part of
// the address ([arch.Arch.CodeAddress]). The value is not known if THIS is outermost, or if no
// sniffer has claimed it.
func (f *Frame) PrevRegister(r trad.Reg) Value {
	v := f.toPrev(r)
	f.stack.lacks = f.stack.lacks || !v.Known()
	return v
}

// toPrev returns what PrevRegister returns, and does not note that a value is lacking.
func (f *Frame) toPrev(r trad.Reg) Value {
	switch a := f.stack.arch; {
	case f.outdated():
		return Value{Err: errOutdated}
	case f.Level < 0:
		return f.stack.liveRegister(r)
	case f.winner < 0 || f.row.Flags&trad.Outermost != 0:
		return Value{}
	case f.prev != nil:
		return f.prev.Register(r)
	case r == a.PC:
		return f.ra
	case r == a.FP:
		return f.prevFP()
	case r == a.SP:
		return f.prevSP()
	}
	return f.prevRegister(r)
}
