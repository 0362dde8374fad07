package fp

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// maxFunction bounds a function whose beginning and end are not known, in bytes: few are longer. A
// return address farther away is not in it.
const maxFunction = 4 << 10

// byLink answers for a frame 0 whose return address is still in the link register, as in a function
// that calls none. Its frame pointer, or the back chain, is its caller's, so that the record there
// would leave the caller out. saved is the return address in that record, 0 if there is none.
//
// The register leads out of the function that THIS is in, or it is of a call that THIS has made.
// What it leads to follows a call.
func byLink(q *frame.Query, saved uint64) (row trad.Row, ok bool) {
	a := q.Arch
	if a.RA == a.PC || !q.Innermost() || !q.Modules.IsCode(q.PC) {
		return row, false
	}
	link := q.This.Register(a.RA)
	ra := a.CodeAddress(link.Bits)
	if !link.Known() || ra == 0 || ra == saved || !q.Modules.IsCode(ra-1) || !q.MayFollowCall(ra) || !leadsOut(q, ra) {
		return row, false
	}
	return q.LinkRow(), true
}

// leadsOut reports whether a return address is not in the function that THIS is in. If nothing
// tells where that ends, it is in another module or far away.
func leadsOut(q *frame.Query, ra uint64) bool {
	if lo, hi, ok := q.FunctionAt(q.AddressInBlock); ok {
		return ra-1 < lo || ra-1 >= hi
	}
	if m := q.Modules.Find(ra - 1); m != q.Module {
		return true
	}
	return ra > q.PC+maxFunction || ra+maxFunction < q.PC
}

// byTop answers for code without a frame record that has pushed nothing, or one word to align the
// stack: its return address is one of the two innermost words of the stack. It must follow a call
// that may have led here. Of a caller that counts only if the code belongs to no file, for a
// compiler at run time may keep frames of its own elsewhere, and use the stack for no more than to
// come back.
func byTop(q *frame.Query) (row trad.Row, ok bool) {
	a := q.Arch
	sp := q.This.Register(a.SP)
	if a.RAOffset == 0 || !sp.Known() || !q.Modules.IsCode(q.AddressInBlock) || q.Module != nil && !q.Innermost() {
		return row, false
	}
	size := uint64(a.PtrSize)
	top, _ := q.Word(sp.Bits)
	for cfa := sp.Bits + size; cfa <= sp.Bits+2*size; cfa += size {
		word, ok := q.Word(cfa - size)
		if !ok {
			break
		}
		ra := a.CodeAddress(word)
		if ra == 0 || !q.Modules.IsCode(ra-1) || q.OnStack(ra) {
			continue
		}
		if follows, _ := q.FollowsCall(ra); !follows || !q.MayHaveLedHere(ra) {
			continue
		}
		row = trad.Row{
			Lo: q.PC, Len: 1, Flags: trad.Once | trad.Guess,
			CFA: trad.Rule{Kind: trad.InReg, Reg: a.SP, Off: int32(cfa - sp.Bits)},
			RA:  trad.Rule{Kind: trad.Saved, Off: -int32(size)},
		}
		switch fp := q.This.Register(a.FP); {
		case fp.Known() && outward(q, cfa, fp.Bits): // as far as it can be seen, it is the caller's
			row.FP = trad.Rule{Kind: trad.Same}
		case cfa-sp.Bits > size && outward(q, cfa, top): // THIS has pushed it
			row.FP = trad.Rule{Kind: trad.Saved, Off: -2 * int32(size)}
		}
		return row, true
	}
	return row, false
}

// outward reports whether fp may be a frame pointer of a frame that begins at an address.
func outward(q *frame.Query, at, fp uint64) bool {
	size := q.Arch.PtrSize
	return fp >= at && fp-at <= maxFrameSize && fp%uint64(size) == 0 && len(q.Read(fp, size)) == size
}
