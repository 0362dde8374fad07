package tcl

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
)

// mostSlots bounds the words of the part of the stack of the function that executes bytecode that
// are looked at for its program counter. Compilers keep it near the stack pointer.
const mostSlots = 8

// counters returns where in its bytecode a command that runs may be, the likeliest first: Tcl notes
// that only when a command is called. The function that executes bytecode has it in a register that
// calls preserve, or in its frame.
func (m *reader) counters(s *language.Stack, f *frame.Frame, c command) (list []uint64) {
	code := m.code(c.code)
	if code == nil {
		return nil
	}
	try := func(v uint64) {
		if v >= code.start && v-code.start < code.bytes {
			list = append(list, v)
		}
	}
	for _, v := range registers(s, f) {
		try(v)
	}
	sp := f.Register(s.Arch.SP)
	for i := range uint64(mostSlots) {
		if sp.Known() {
			try(m.Pointer(sp.Bits + 8*i))
		}
	}
	m.Err()
	return list
}

// lineOf returns the line of a command that bytecode runs; guess says that it may be another one.
func (m *reader) lineOf(c *code, x command) (line int, guess bool) {
	if !x.running {
		return m.line(c, x.pc, x.text), false
	}
	for _, pc := range x.pcs {
		of := m.line(c, pc, 0)
		switch {
		case of == 0:
		case line == 0:
			line = of
		case line != of:
			guess = true
		}
	}
	if line == 0 {
		return m.line(c, x.pc, x.text), true
	}
	return line, guess
}
