package tcl

import (
	"slices"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/trad"
)

// reader reads Tcl's structures of one moment, of one interpreter.
type reader struct {
	*structs.Reader
	*layout
	interp uint64
	budget *budget
	names  map[uint64]string // by procedure
	codes  map[uint64]*code
	files  map[uint64]string // by value
}

// budget is what may still be read for one stack.
type budget struct {
	bytes   int // of names and of tables of lines
	records int // callbacks and coroutines, and what is looked through for lines
}

const (
	mostBytes   = 16 << 20
	mostRecords = 1 << 19
)

// loop is a physical frame of TclNRRunCallbacks.
type loop struct {
	level  int
	interp uint64
	// fromTcl is whether a function of Tcl's own has called it.
	fromTcl bool
	values  []uint64 // of its registers, but for interp
	// root is the innermost callback that it leaves alone, by its number from the innermost one on.
	root int
	// running has words of the records of callbacks to which its registers lead.
	running map[uint64]bool
}

// loopsOf returns the loops of a stack, the innermost first, and the interpreters that they run, in
// the same order. What registers lead to without a loop is looked at, too.
func (r *runtime) loopsOf(m *structs.Reader, s *language.Stack, b *budget) (loops []*loop, interps []*reader) {
	outside := -1
	for level, f := range s.Frames {
		if !r.isOwn(f) {
			continue
		}
		begin, _ := f.Function()
		if begin != r.run {
			outside = level
			continue
		}
		l := &loop{level: level, fromTcl: level+1 < len(s.Frames) && r.isOwn(s.Frames[level+1])}
		for _, v := range registers(s, f) {
			if in := r.interpreter(m, v); in == nil {
				l.values = append(l.values, v)
			} else if l.interp == 0 {
				l.interp = v
				interps = add(interps, in, v, b)
			}
		}
		if l.interp != 0 {
			loops = append(loops, l)
		}
	}
	if len(loops) == 0 && outside >= 0 { // between the commands of a script
		for level := outside; level >= 0 && len(interps) == 0; level-- {
			for _, v := range registers(s, s.Frames[level]) {
				if in := r.interpreter(m, v); in != nil && len(interps) == 0 {
					interps = add(interps, in, v, b)
				}
			}
		}
	}
	return loops, interps
}

// add adds an interpreter to a list, unless it is there.
func add(list []*reader, in *reader, at uint64, b *budget) []*reader {
	if slices.ContainsFunc(list, func(other *reader) bool { return other.interp == at }) {
		return list
	}
	in.interp, in.budget = at, b
	in.names, in.codes, in.files = map[uint64]string{}, map[uint64]*code{}, map[uint64]string{}
	return append(list, in)
}

// registers returns what is in the callee-saved registers of a frame.
func registers(s *language.Stack, f *frame.Frame) (values []uint64) {
	for reg := range trad.Reg(len(s.Arch.Regs)) {
		if v := f.Register(reg); s.Arch.CalleeSaved.Has(reg) && v.Known() {
			values = append(values, v.Bits)
		}
	}
	return values
}

// interpreter returns a reader of the interpreter at an address, nil if there is none of this file.
func (r *runtime) interpreter(m *structs.Reader, at uint64) *reader {
	if at < 1<<12 || at%8 != 0 {
		return nil
	}
	defer m.Err()
	for _, l := range layouts() {
		// The table of functions for extensions is in Tcl's own file.
		stubs := m.Pointer(at + l.InterpStubs)
		if stubs < r.module.Lo() || stubs >= r.module.Hi() || m.Uint(stubs, 4) != l.StubsMagic {
			continue
		}
		environment := m.Pointer(at + l.InterpEnvironment)
		global := m.Pointer(at + l.InterpGlobal)
		if m.Pointer(environment+l.EnvironmentInterp) == at && m.CString(m.Pointer(global+l.NamespaceName)) == "::" && m.OK() {
			return &reader{Reader: m, layout: l}
		}
	}
	return nil
}
