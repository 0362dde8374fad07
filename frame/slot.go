package frame

import "slices"

// Releaser is an Unwinder that wants to know when a frame is gone for which it has filled
// [Frame.Slot].
type Releaser interface {
	Unwinder
	// Release is called once for each slot that is not nil, with what is in it. The frame is gone
	// then, and the stack is in the middle of something: Release must use neither.
	//
	// It is called, on the goroutine that uses the stack,
	//   - when the sniffer has filled a slot in Sniff, and THIS is another sniffer's frame, or none;
	//   - for a frame of a [Stack], with [Stack.Reset] and [Stack.Close], when [Stack.AllOnce] drops the frame,
	//     and when it turns out to be no frame of the stack, because it repeats its NEXT;
	//   - for a frame of a [Walker], when the Walker makes the next one, with [Walker.Reset], and with
	//     [Walker.SetModules].
	// A Walker keeps slots of inner frames that sniffers have asked for until it walks another
	// stack on which a sniffer asks for such.
	//
	// Nothing calls Release for a Stack or a Walker that becomes garbage without that.
	Release(slot any)
}

// slots are what Unwinders keep for the frames of a stack: few frames have any.
type slots map[*Frame][]slot

type slot struct {
	by    int      // the Unwinder's position in the table
	to    Releaser // the Unwinder, if it is one
	value *any
}

// Slot returns the place where the Unwinder that has claimed THIS may keep something for THIS:
// GDB's this_cache. The place is empty at first, and the same in Sniff, ThisID and PrevRegister.
// What Sniff has put there is gone if another sniffer's claim counts. Rows are kept by PC, so that
// Sniff is not called for each frame: only a row with trad.Once ensures that Sniff has filled the
// slot.
//
// The place is gone when THIS is ([Releaser] says when). Slot returns nil for a frame that no
// Unwinder has claimed or is asked about. It serves the stack's goroutine.
func (f *Frame) Slot() *any {
	s, by := f.stack, int(f.winner)
	switch {
	case s.asked.this == f:
		by = s.asked.by
	case f.winner < 0 || !f.byUnwinder:
		return nil
	}
	for _, x := range s.slots[f] {
		if x.by == by {
			return x.value
		}
	}
	if s.slots == nil {
		s.slots = make(slots)
	}
	x := slot{by: by, value: new(any)}
	x.to, _ = s.table.unwinders[by].(Releaser)
	s.slots[f] = append(s.slots[f], x)
	return x.value
}

// asked says which Unwinder's Sniff is called, and for which frame.
type asked struct {
	this *Frame
	by   int
}

// setAsked says which Unwinder's Sniff is called, asked{} for none, until the function that it
// returns is called.
func (s *Stack) setAsked(a asked) (end func()) {
	outer := s.asked
	s.asked = a
	return func() { s.asked = outer }
}

// settleSlots drops the slots of Unwinders that have not claimed THIS.
func (s *Stack) settleSlots(f *Frame) {
	list := s.slots[f]
	if len(list) == 0 {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(list), func(x slot) bool { return !f.byUnwinder || x.by != int(f.winner) })
	s.slots[f] = kept
	for _, x := range list {
		if !slices.ContainsFunc(kept, func(k slot) bool { return k.by == x.by }) {
			x.release()
		}
	}
	if len(kept) == 0 {
		delete(s.slots, f)
	}
}

// dropSlots drops the slots of THIS, which is gone.
func (s *Stack) dropSlots(f *Frame) {
	list := s.slots[f]
	delete(s.slots, f)
	for _, x := range list {
		x.release()
	}
}

// dropAllSlots drops the slots of all frames of the chain. A Walker's THIS is in no chain.
func (s *Stack) dropAllSlots() {
	for f := range s.slots {
		if !f.ofWalker {
			s.dropSlots(f)
		}
	}
}

func (x slot) release() {
	if x.to != nil && *x.value != nil {
		x.to.Release(*x.value)
	}
}

// Close drops all frames of the stack: they must not be used any more. Only a stack whose table has
// a [Releaser] need be closed; after [Stack.Reset] it can be used again.
func (s *Stack) Close() {
	if s.live != nil {
		s.restart()
	}
}
