package main

import (
	"strings"

	"github.com/sfwalk/sfwalk/internal/jitname"
	"github.com/sfwalk/sfwalk/plugin"
)

// form is a kind of code, with the facts that one needs beside its bytes to follow its frame.
type form uint8

const (
	ordinary form = iota // the return address is where a call leaves it
	abiding              // the same; and the code, and all that it calls, keep to the ABI in all else

	// V8's code has rules of its own: no register survives a call, and a jump may stand for a call,
	// so that saved registers are not the caller's.
	lossy
	// On amd64, V8's baseline code begins with a call of a builtin, which sets up the frame record;
	// a jump to another builtin takes it down.
	framedByCall // all that comes behind the first call is a body
	framed       // the record is there from the beginning
	calledTwice  // the word on the stack behind the return address is the caller's return address
)

// fromC has the builtins that C++ functions call.
var fromC = map[string]bool{
	"Builtin:JSEntry": true, "Builtin:JSConstructEntry": true, "Builtin:JSRunMicrotasksEntry": true, "Builtin:CWasmEntry": true,
}

// formOf returns the form of code by the name that V8 or Python has given it.
func formOf(r *reader, name string) form {
	kind, rest, _ := strings.Cut(name, ":")
	switch {
	case strings.HasPrefix(name, "py::"):
		return abiding
	case !jitname.IsV8(name) || fromC[name]:
		return ordinary
	case r.twice == nil: // V8's forms there are not known
		return lossy
	case jitname.JavaScript[kind] && strings.HasPrefix(rest, "^"):
		return framedByCall
	case name == "Builtin:BaselineOutOfLinePrologue":
		return calledTwice
	case name == "Builtin:BaselineLeaveFrame":
		return framed
	}
	return lossy
}

// V8's interpreter has one piece of code for all functions, unless
// --interpreted-frames-native-stack is given; the frame tells the interpreted function. A perf map
// lists the bytecode as well.
const interpreter = "Builtin:InterpreterEntryTrampoline"

// Where a frame of the interpreter keeps what it interprets, in bytes below FP
// (V8's InterpreterFrameConstants), and how far behind the beginning of that the bytecode
// begins at most.
const (
	bytecodeArray  = 32 // a tagged pointer
	bytecodeOffset = 40 // from the pointer, a small integer: in the upper half
	maxBytecode    = 128
)

// interpreted returns the name of the function that an interpreter's frame interprets. A listing
// must have bytecode where the frame says, with a beginning that fits: that confirms the words in
// the frame.
func (s *session) interpreted(q *plugin.Query) (symbol plugin.Symbol, ok bool) {
	fp, known := q.Registers.Get(s.reader.arch.FP)
	array, ok := s.word(q, fp-bytecodeArray)
	offset, ok2 := s.word(q, fp-bytecodeOffset)
	if !known || !ok || !ok2 || array&3 != 1 || uint32(offset) != 0 {
		return symbol, false
	}
	for _, l := range s.listings {
		c, ok := l.find(array + offset>>32)
		if !ok || c.lo-array > maxBytecode {
			continue
		}
		d, err := l.describe(c)
		if kind, _, _ := strings.Cut(d.name, ":"); err != nil || d.lo != c.lo || !jitname.JavaScript[kind] {
			continue
		}
		return symbolOf(d.name), true
	}
	return symbol, false
}

// word reads eight bytes of memory, from the query's stack if it has them.
func (s *session) word(q *plugin.Query, addr uint64) (v uint64, ok bool) {
	order := s.reader.arch.Order
	if off, n := addr-q.Stack.Addr, uint64(len(q.Stack.Data)); off < n && n-off >= 8 {
		return order.Uint64(q.Stack.Data[off:]), true
	}
	var p [8]byte
	_, err := s.memory.ReadMemory(addr, p[:])
	return order.Uint64(p[:]), err == nil
}

// symbolOf takes a function's name apart.
func symbolOf(name string) plugin.Symbol {
	n := jitname.Split(jitname.Readable(name))
	return plugin.Symbol{Function: n.Function, File: n.File, Line: n.Line}
}
