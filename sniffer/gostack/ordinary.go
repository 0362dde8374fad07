package gostack

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// span is [lo, hi), addresses of the file.
type span struct{ lo, hi uint64 }

// cut takes from s what is on the other side of at than pc.
func (s *span) cut(at, pc uint64) {
	if pc < at {
		s.hi = min(s.hi, at)
	} else {
		s.lo = max(s.lo, at)
	}
}

// firstDelta returns the first stack pointer delta of a function that is not 0, and
// where it begins to hold.
func firstDelta(f gopclntab.Func) (delta int32, at uint64, ok bool) {
	for at = f.Lo; ; {
		delta, _, hi, known := f.SPDelta(at)
		if !known || hi <= at {
			return 0, 0, false
		}
		if delta != 0 {
			return delta, at, true
		}
		at = hi
	}
}

// frames fills in a row of an ordinary function of Go: how it sets up its frame is up to
// the assembler, and the same in all of them. ok is false for another function.
type frames func(row *trad.Row, where *span, im *target.Image, f gopclntab.Func, pc uint64, delta int32, caller bool) (ok bool)

// framesAMD64: a function with a frame saves the frame pointer at its top,
//
//	PUSHQ BP; MOVQ SP, BP; SUBQ $n, SP             since Go 1.21
//	SUBQ $n, SP; MOVQ BP, n-8(SP); LEAQ n-8(SP), BP
//
// and until the frame is gone again, there it is.
func framesAMD64(row *trad.Row, where *span, im *target.Image, f gopclntab.Func, pc uint64, delta int32, _ bool) bool {
	row.CFA.Off = delta + 8
	row.RA = trad.Rule{Kind: trad.Saved, Off: -8}
	row.FP = trad.Rule{Kind: trad.Same}
	if delta == 0 {
		return true
	}
	first, at, ok := firstDelta(f)
	if !ok {
		return false
	}
	var code [9]byte // one byte before, and a MOVQ BP, n(SP) with its 32-bit offset
	if im.ReadLoaded(at-1, code[:]) < len(code) {
		return false
	}
	switch mov := code[1:]; {
	case code[0] == 0x55 && first == 8 && delta >= 8:
		row.FP = trad.Rule{Kind: trad.Saved, Off: -16}
		return true
	case mov[0] == 0x48 && mov[1] == 0x89 && mov[2] == 0x2c && mov[3] == 0x24:
		return saves(row, where, pc, at+4, -first-8, delta)
	case mov[0] == 0x48 && mov[1] == 0x89 && mov[2] == 0x6c && mov[3] == 0x24:
		return saves(row, where, pc, at+5, int32(int8(mov[4]))-first-8, delta)
	case mov[0] == 0x48 && mov[1] == 0x89 && mov[2] == 0xac && mov[3] == 0x24:
		return saves(row, where, pc, at+8, int32(binary.LittleEndian.Uint32(mov[4:]))-first-8, delta)
	}
	return false
}

// saves says that the frame pointer is at CFA+off from the instruction at from on.
func saves(row *trad.Row, where *span, pc, from uint64, off, delta int32) bool {
	if off >= -8 || -off > delta+8 {
		return false // it is no longer, or was never, in the frame
	}
	where.cut(from, pc)
	if pc >= from {
		row.FP = trad.Rule{Kind: trad.Saved, Off: off}
	}
	return true
}
