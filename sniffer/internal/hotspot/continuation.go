package hotspot

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/trad"
)

// returnBarrier returns the row of the stub to which the outermost frame of a virtual thread on
// its carrier's stack returns. The stub has no frame. It takes the stack pointer from the
// thread's record: it leads to a record on the stack, by which the carrier has entered the
// virtual thread. Behind that are the carrier's frame pointer, and the return address to its own
// code. Releases that do not tell the record's size have no address of code in it.
func (vm *machine) returnBarrier(q *frame.Query, r *vmstructs.Reader) (trad.Row, frame.Answer) {
	a := q.Arch
	sp := q.This.Register(a.SP)
	if a.JavaInterpreter == nil || !sp.Known() {
		return trad.Row{}, notSetUp
	}
	thread := q.This.Register(a.JavaInterpreter.Thread)
	entry, ok := vm.virtual.Entry(own(q), q.PC, thread.Bits)
	if !thread.Known() || !ok || a.InnerThan(entry, sp.Bits) || entry-sp.Bits > maxArguments {
		return trad.Row{}, notSetUp
	}
	return vm.entered(q, r, sp.Bits, entry)
}

// moves returns the row of a stub that has frames of a virtual thread moved from the heap to the
// carrier's stack. Below the record by which the carrier has entered the virtual thread, there is
// room for them, and nothing else yet.
func (vm *machine) moves(q *frame.Query, r *vmstructs.Reader, b *vmstructs.Blob) (trad.Row, frame.Answer) {
	a := q.Arch
	sp := q.This.Register(a.SP)
	if a.JavaInterpreter == nil || !sp.Known() {
		return trad.Row{}, notSetUp
	}
	barrier, ok := vm.virtual.Barrier(r, b)
	thread := q.This.Register(a.JavaInterpreter.Thread)
	if !ok || !thread.Known() {
		return trad.Row{}, notSetUp
	}
	entry, ok := vm.virtual.Entry(own(q), barrier, thread.Bits)
	if !ok || a.InnerThan(entry, sp.Bits) || entry-sp.Bits > maxMoved {
		return trad.Row{}, notSetUp
	}
	return vm.entered(q, r, sp.Bits, entry)
}

// own returns a reader of what belongs to the thread, which may have run on.
func own(q *frame.Query) *vmstructs.Reader {
	return &vmstructs.Reader{Memory: q.Memory, Order: q.Arch.Order}
}

// entered returns the row that leads from a stub's frame, whose stack pointer is sp, to the code
// that has entered a virtual thread; entry is the address of the record of that.
func (vm *machine) entered(q *frame.Query, r *vmstructs.Reader, sp, entry uint64) (trad.Row, frame.Answer) {
	a := q.Arch
	if !q.MaySearch() {
		return trad.Row{}, noEffort
	}
	word := int32(a.PtrSize)
	words := make([]byte, maxEntered)
	n, _ := q.Memory.ReadMemory(entry, words)
	code, size, interprets := vm.code.Code(r)
	first, last := word, int32(n)-word
	if size := vm.virtual.Record; size > 0 && size < maxEntered {
		first = (int32(size)+a.FrameRecord-1)&-a.FrameRecord + word // the stack is aligned behind it
		last = min(last, first)
	}
	for at := first; at <= last; at += word {
		pc := a.Word(words[at:])
		if !interprets || pc-1-code >= size { // no call stands before the places to which the interpreter has methods return
			if follows, _ := q.FollowsCall(pc); !follows || !q.Modules.IsCode(pc-1) {
				continue
			}
		}
		return trad.Row{
			Lo: q.PC, Len: 1, Flags: trad.Once,
			CFA:    trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: int32(entry-sp) + at + word},
			RA:     trad.Rule{Kind: trad.Saved, Off: -word},
			FP:     trad.Rule{Kind: trad.Saved, Off: -2 * word},
			Others: vm.compiledOthers,
		}, frame.Claimed
	}
	return trad.Row{}, notSetUp
}

const (
	maxArguments = 8 * 256 // bytes: a method has at most 255 arguments
	maxEntered   = 8 * 32  // bytes of the record: it has some 10 words
	maxMoved     = 1 << 20 // bytes: the usual size of a stack
)
