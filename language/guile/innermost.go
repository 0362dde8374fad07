package guile

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

// Procedures and their code (programs.h, jit.h).
const (
	kindMask    = 0x7f
	kindProgram = 0x45
	programCode = 8
	local0      = 8 // before a frame's address: the procedure, until the code needs the place for something else

	opEntry   = 1 // the first instruction of a procedure, and then where its record is, in words
	jitCode   = 0 // of the record of what was compiled while it ran: the machine code
	jitStart  = 12
	mostTimes = 64 // as long as bytecode machine code may be
	leastCode = 1 << 10
)

// innermost returns the innermost call as a frame; ok is false if its code is not Scheme's. Where
// Guile runs code that it has compiled, it notes the address in bytecode only now and then: the
// address of the machine code tells the procedure.
func (r *runtime) innermost(m *structs.Reader, s *language.Stack, levels []int, calls []call) (f language.Frame, ok bool) {
	defer m.Err()
	c := calls[0]
	var at uint64 // the code of the procedure with which the call began
	if program := m.Pointer(c.fp - local0); program != 0 && program%8 == 0 && m.Uint(program, 1)&kindMask == kindProgram {
		at = m.Pointer(program + programCode)
	}
	if !m.OK() {
		at = 0
	}
	m.Err()
	if at != 0 && !r.has(at) && r.imageOf(m, at) == nil {
		return f, false // a function of C, which has a physical frame
	}
	outside := len(s.Frames)
	if len(levels) > 0 {
		outside = levels[0]
	}
	level := compiled(s, outside)
	if level < 0 {
		return r.frame(m, c, true)
	}
	pc := s.Frames[level].PC()
	list := []uint64{at, c.ip}
	if len(calls) > 1 {
		list = append(list, calls[1].ip-1)
	}
	var of *image
	var best name
	nearest := uint64(0)
	for _, addr := range list {
		im := r.imageOf(m, addr)
		if im == nil || im == of {
			continue
		}
		for _, n := range im.names {
			if code := n.machineCode(m); code > nearest && code <= pc && pc-code < leastCode+mostTimes*(n.hi-n.lo) {
				of, best, nearest = im, n, code
			}
		}
	}
	if of == nil {
		return f, false
	}
	f = language.Frame{Function: best.text, Place: c.fp}
	if f.Function == "" {
		f.Function = anonymous
	}
	if f.File, f.Line = of.placeOf(c.ip); c.ip < best.lo || c.ip >= best.hi {
		f.File, _ = of.placeOf(best.lo)
		f.Line = 0
	} else {
		f.Guess = true // the line of a call before
	}
	return f, true
}

// machineCode returns where the machine code of a procedure begins; 0 if there is none.
func (n *name) machineCode(m *structs.Reader) uint64 {
	defer m.Err()
	if m.Uint(n.lo, 4) != opEntry {
		return 0
	}
	record := n.lo + uint64(4*m.Int(n.lo+4, 4))
	if record+uint64(m.Int(record+jitStart, 4)) != n.lo || !m.OK() {
		return 0
	}
	return m.Pointer(record + jitCode)
}

// compiled returns the level of the innermost frame of code that Guile has compiled, inside of a
// level; -1 if there is none, for the interpreter of bytecode runs.
func compiled(s *language.Stack, outside int) int {
	for level := range max(0, outside) {
		if f := s.Frames[level]; f.Module() == nil && f.Type() == frame.Normal {
			return level
		}
	}
	return -1
}
