package expr

import (
	"github.com/sfwalk/sfwalk/format/dwarf"
	"github.com/sfwalk/sfwalk/trad"
)

// place runs an operation that describes a location as a whole, or a piece (DWARF 5, section 2.6).
// It reports whether op is one of these.
func (e *evaluation) place(op byte) bool {
	r := &e.r
	switch {
	case op >= dwarf.OpReg0 && op < dwarf.OpBreg0:
		e.loc, e.whole = Location{Kind: Register, Reg: trad.Reg(op - dwarf.OpReg0)}, true
		return true
	}
	switch op {
	case dwarf.OpRegx:
		n := r.ULEB128()
		if n > uint64(^trad.Reg(0)) {
			e.fail(malformed("there is no register %d", n))
		}
		e.loc, e.whole = Location{Kind: Register, Reg: trad.Reg(n)}, true
	case dwarf.OpStackValue:
		v := e.popOperand()
		e.loc, e.whole = Location{Kind: Value, Bits: v.bits, High: v.high, Type: v.t}, true
	case dwarf.OpImplicitValue:
		e.loc, e.whole = Location{Kind: Implicit, Bytes: r.Take(r.ULEB128())}, true
	case dwarf.OpImplicitPointer:
		ref := r.Uint(e.refSize())
		e.loc, e.whole = Location{Kind: Pointer, Ref: ref, Offset: r.SLEB128()}, true
	case dwarf.OpPiece:
		n := r.ULEB128()
		if n > 1<<60 {
			e.fail(malformed("a piece of %d bytes", n))
		}
		e.piece(8*n, 0)
	case dwarf.OpBitPiece:
		n := r.ULEB128()
		e.piece(n, r.ULEB128())
	case dwarf.OpGNUUninit: // the object is not initialized yet; gdb shows it all the same
	default:
		return false
	}
	return true
}

// piece ends a piece of a composite location.
func (e *evaluation) piece(size, skip uint64) {
	if len(e.pieces) == maxPieces {
		e.fail(malformed("more than %d pieces", maxPieces))
	}
	if e.err != nil || e.r.Bad {
		return
	}
	l, err := e.take(true)
	if err != nil {
		e.fail(err)
		return
	}
	e.pieces = append(e.pieces, Piece{l, size, skip})
}

// take returns the location that the operations since the last piece describe. empty allows there
// to be none.
func (e *evaluation) take(empty bool) (Location, error) {
	if e.whole {
		e.whole = false
		return e.loc, nil
	}
	if len(e.stack) == 0 {
		if empty {
			return Location{Kind: OptimizedOut}, nil
		}
		return Location{}, malformed("stack is empty at the end")
	}
	addr := e.pop()
	if e.err != nil {
		return Location{}, e.err
	}
	e.stack = e.stack[:0]
	return Location{Kind: Memory, Addr: addr}, nil
}
