package dotnet

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/ecma335"
)

// machine is the type that a compiler has made of an async method: its values are the method's
// state while it waits.
type machine struct {
	number   int    // tells it from others
	offset   uint64 // where an object of the type that keeps it has it
	object   bool   // that has a pointer to it (code that is not optimised)
	state    int64  // where it has the number of its state; negative if it has none
	awaiters []uint32
	function string
	lines    map[int32]language.Frame // by state
}

// machineOf returns the machine that objects of a type keep; nil if it cannot be read.
func (t *tasks) machineOf(x *shape) *machine {
	m, known := t.types[x.table]
	if !known {
		if m = t.newMachine(x); m != nil {
			m.number = len(t.types)
		}
		t.types[x.table] = m
	}
	return m
}

func (t *tasks) newMachine(x *shape) *machine {
	offset, ok := t.field(x, "StateMachine")
	arguments := t.r.vm.Arguments(t.mem, x.table)
	for p := x; len(arguments) == 0 && p.parent != nil; p = p.parent {
		arguments = t.r.vm.Arguments(t.mem, p.parent.table)
	}
	if !ok || len(arguments) == 0 {
		return nil
	}
	of := t.of(arguments[len(arguments)-1])
	if of == nil {
		return nil
	}
	m := &machine{offset: offset, state: -1, lines: map[int32]language.Frame{}, function: unnamed}
	m.object = of.parent == nil || of.parent.name != "System.ValueType"
	fields := t.fieldsOf(of)
	var sorted []uint32
	for name, at := range fields {
		if sorted = append(sorted, at); name == "<>1__state" || name == "$State" { // of C# and of Visual Basic
			m.state = int64(at)
		}
	}
	slices.Sort(sorted)
	end := of.Base - 2*wordSize // an object has words of its own
	for name, at := range fields {
		if !strings.HasPrefix(name, "<>u__") && !strings.HasPrefix(name, "$A") {
			continue
		}
		to := end
		if i, _ := slices.BinarySearch(sorted, at+1); i < len(sorted) {
			to = sorted[i]
		}
		for at = (at + wordSize - 1) &^ (wordSize - 1); at+wordSize <= to && len(m.awaiters) < mostAwaiters; at += wordSize {
			m.awaiters = append(m.awaiters, at)
		}
	}
	slices.Sort(m.awaiters)
	t.placesOf(m, of)
	return m
}

// placesOf fills in a machine's name, and on which lines it waits: the PDB has the places at which
// it begins to, and the code before them the numbers of the states.
func (t *tasks) placesOf(m *machine, of *shape) {
	a := t.r.assembly(t.mem, of.Module)
	if a.names == nil {
		return
	}
	row := a.names.MethodOf(of.Row, "MoveNext")
	n := a.names.Method(row)
	if row == 0 {
		n.Type, n.Method = of.name, ""
	}
	m.function = strings.Trim(n.Type+"."+n.Method, ".")
	if a.lines == nil || a.code == nil || row == 0 {
		return
	}
	code := a.code.Code(a.names.RVA(row))
	for _, at := range a.lines.Yields(row) {
		if state, ok := ecma335.StateBefore(code, at); ok {
			f := language.Frame{Function: m.function, Guess: a.guess}
			f.File, f.Line = a.lines.Line(row, at)
			m.lines[state] = f
		}
	}
}

// frame returns the frame of the machine in a state.
func (m *machine) frame(state int32) language.Frame {
	if f, ok := m.lines[state]; ok {
		return f
	}
	return language.Frame{Function: m.function}
}
