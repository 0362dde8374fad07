package gostack

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/trad"
)

// span is [lo, hi), addresses of the file.
type span struct{ lo, hi uint64 }

// cut shortens s to the side of at that pc is on.
func (s *span) cut(at, pc uint64) {
	if pc < at {
		s.hi = min(s.hi, at)
	} else {
		s.lo = max(s.lo, at)
	}
}

// firstDelta returns a function's first stack pointer delta that is not 0, and the address where it
// begins to hold.
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

// frames fills in a row of an ordinary function of Go. The assembler makes all their frames in the
// same few forms. ok is false for a function of another form.
type frames func(p *program, row *trad.Row, where *span, f gopclntab.Func, pc uint64, delta int32, caller bool) (ok bool)

// framesPushed, where a call pushes the return address: a function with a frame saves the frame
// pointer at its top:
//
//	PUSHQ BP; MOVQ SP, BP; SUBQ $n, SP             since Go 1.21
//	SUBQ $n, SP; MOVQ BP, n-8(SP); LEAQ n-8(SP), BP
//
// The frame pointer stays there until the frame is gone again.
func framesPushed(p *program, row *trad.Row, where *span, f gopclntab.Func, pc uint64, delta int32, _ bool) bool {
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
	if p.Image.ReadLoaded(at-1, code[:]) < len(code) {
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

// saves sets the frame pointer's rule: from the instruction at from on, it is at CFA+off. saves
// returns false if the frame does not have it there.
func saves(row *trad.Row, where *span, pc, from uint64, off, delta int32) bool {
	if off >= -8 || -off > delta+8 {
		return false // the frame no longer has it, or never had
	}
	where.cut(from, pc)
	if pc >= from {
		row.FP = trad.Rule{Kind: trad.Saved, Off: off}
	}
	return true
}

// framesLinked, where a call leaves it in the link register: a function with a frame saves the link
// register at the end that SP points to, and the frame pointer below that:
//
//	MOVD.W R30, -n(RSP); MOVD R29, -8(RSP); SUB $8, RSP, R29
//	SUB $n, RSP, R20; STP (R29, R30), -8(R20); MOVD R20, RSP; SUB $8, RSP, R29
//
// The assembler uses the second form if n is large. The registers stay there until the frame is
// gone again.
func framesLinked(p *program, row *trad.Row, where *span, f gopclntab.Func, pc uint64, delta int32, caller bool) bool {
	row.CFA.Off = delta
	if delta == 0 {
		row.FP = trad.Rule{Kind: trad.Same}
		return p.frameless(row, f, pc, caller)
	}
	n, at, ok := firstDelta(f)
	if !ok || delta < n {
		return false
	}
	var code [12]byte
	if at < f.Lo+8 || p.Image.ReadLoaded(at-8, code[:]) < len(code) {
		return false
	}
	x := [3]uint32{}
	for i := range x {
		x[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	const (
		strPre   = 0xf8000c00 | 31<<5 | 30 // MOVD.W R30, 0(RSP)
		saveFP   = 0xf81f83fd              // MOVD R29, -8(RSP)
		savePair = 0xa93ffa9d              // STP (R29, R30), -8(R20)
		setSP    = 0x9100029f              // MOVD R20, RSP
	)
	switch {
	case x[0] == savePair && x[1] == setSP:
		row.FP = trad.Rule{Kind: trad.Saved, Off: -n - 8}
	case x[1] == strPre|uint32(-n&0x1ff)<<12 && x[2] == saveFP:
		row.FP = trad.Rule{Kind: trad.Same}
		if where.cut(at+4, pc); pc >= at+4 {
			row.FP = trad.Rule{Kind: trad.Saved, Off: -n - 8}
		}
	default:
		return false
	}
	row.RA = trad.Rule{Kind: trad.Saved, Off: -n}
	return true
}

// framesWithoutFP, where nothing but the link register is saved: a function with a frame saves the
// link register at the end that SP points to, STG R14, -n(R15); LAY -n(R15), R15. There is no frame
// pointer.
func framesWithoutFP(p *program, row *trad.Row, where *span, f gopclntab.Func, pc uint64, delta int32, caller bool) bool {
	row.CFA.Off, row.FP = delta, trad.Rule{Kind: trad.Undefined}
	if delta == 0 {
		return p.frameless(row, f, pc, caller)
	}
	n, at, ok := firstDelta(f)
	var code [12]byte
	if !ok || delta < n || at < f.Lo+12 || p.Image.ReadLoaded(at-12, code[:]) < len(code) {
		return false
	}
	m := p.m
	_, stg := m.Decode(code[:], 0, nil)
	_, lay := m.Decode(code[:], 6, nil)
	if !slices.Equal(stg, []dataflow.Op{dataflow.StoreTo(m.SP, -n, 8, m.RA)}) || !slices.Equal(lay, []dataflow.Op{dataflow.Add(m.SP, m.SP, -n)}) {
		return false
	}
	row.RA = trad.Rule{Kind: trad.Saved, Off: -n}
	return true
}

// frameless fills in the row where the link register has not been saved.
func (p *program) frameless(row *trad.Row, f gopclntab.Func, pc uint64, caller bool) bool {
	switch {
	case caller && p.callsMorestack(pc):
		row.RA = trad.Rule{Kind: trad.InReg, Reg: p.m.InTail}
	case caller || f.Flags&gopclntab.Assembly != 0:
		return false
	default:
		row.RA = trad.Rule{Kind: trad.Same}
	}
	return true
}

// callsMorestack reports whether pc is in a call of morestack. A function has such a call in its
// last instructions, which run before its frame is made.
func (p *program) callsMorestack(pc uint64) bool {
	pc -= p.m.CallSize - 1 // it is the call's last byte
	code := make([]byte, p.m.CallSize)
	if p.Image.ReadLoaded(pc, code) < len(code) {
		return false
	}
	in, _ := p.m.Decode(code, 0, nil)
	return in.Flow == dataflow.Call && in.Target != dataflow.NoTarget && strings.HasPrefix(p.Name(pc+uint64(in.Target)), goruntime.Morestack)
}
