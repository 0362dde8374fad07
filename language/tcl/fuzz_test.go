package tcl

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const (
	base   = 0x10000
	interp = base + 0x100
)

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// image makes Tcl's structures in memory.
type image struct {
	*layout
	b    []byte
	next uint64
}

func (i *image) word(at, v uint64) { binary.LittleEndian.PutUint64(i.b[at-base:], v) }

// number writes a number of the size that counts have.
func (i *image) number(at, v uint64) {
	if i.Size == 4 {
		binary.LittleEndian.PutUint32(i.b[at-base:], uint32(v))
	} else {
		i.word(at, v)
	}
}

// room makes room for n bytes.
func (i *image) room(n uint64) uint64 {
	at := i.next
	i.next += (n + 15) &^ 15
	return at
}

func (i *image) text(text string) uint64 {
	at := i.room(uint64(len(text)) + 1)
	copy(i.b[at-base:], text)
	return at
}

func (i *image) value(text string) uint64 {
	at := i.room(48)
	i.word(at+i.ValueText, i.text(text))
	i.number(at+i.ValueLength, uint64(len(text)))
	return at
}

// small returns memory with an interpreter in which three commands run: the one of a procedure,
// whose bytecode runs at the moment, in the coroutine of another procedure, which a script has
// resumed. state is the address of the innermost bytecode's state.
func small(l *layout) (b []byte, state uint64) {
	i := &image{l, make([]byte, 0x4000), interp + 0x500}
	file := i.value("a.tcl")
	global, inner := i.room(64), i.room(64)
	i.word(global+i.NamespaceName, i.text("::"))
	i.word(inner+i.NamespaceName, i.text("::ns"))
	outside, within, coroutine := i.room(64), i.room(64), i.room(128)
	for n, environment := range []uint64{outside, within} {
		stack := i.room(0x200)
		i.word(environment+i.EnvironmentInterp, interp)
		i.word(environment+i.EnvironmentStack, stack)
		i.word(stack+i.StackEnd, stack+0x1f0)
		if n == 1 {
			state = stack + 0x40
		}
	}
	i.word(within+i.EnvironmentCoroutine, coroutine)
	i.word(coroutine+i.CoroutineCaller, outside)
	procedure := func(namespace uint64, name string) (call uint64) {
		call = i.room(128)
		p, command, entry := i.room(64), i.room(96), i.room(64)
		copy(i.b[entry+i.EntryKey-base:], name)
		i.word(command+i.NameEntry, entry)
		i.word(command+i.NameNamespace, namespace)
		i.word(p+i.ProcedureCommand, command)
		i.word(call+i.CallProcedure, p)
		return call
	}
	code := i.room(256)
	source, start := i.text("set x 1\nf"), i.room(16)
	tables := i.room(16)
	copy(i.b[tables-base:], []byte{0, 4, 4, 6, 0, 8, 7, 1})
	i.word(code+i.CodeSource, source)
	i.number(code+i.CodeCommands, 2)
	i.number(code+i.CodeBytes, 10)
	i.word(code+i.CodeStart, start)
	for n, at := range []uint64{i.CodeDeltas, i.CodeLengths, i.CodeSources, i.CodeEnd} {
		i.word(code+at, tables+2*uint64(n))
	}
	lines, list := i.room(64), i.room(2*i.Line)
	for n := range uint64(2) {
		line := i.room(16)
		i.number(line, 3+n)
		i.word(list+n*i.Line+i.LineSource, 8*n)
		i.word(list+n*i.Line+i.LineLine, line)
	}
	i.word(lines+i.LinesType, i.TypeSource)
	i.word(lines+i.LinesPath, file)
	i.word(lines+i.LinesList, list)
	i.number(lines+i.LinesCount, 2)
	table, buckets, entry := i.room(96), i.room(8), i.room(64)
	i.word(table+i.TableBuckets, buckets)
	i.word(table+i.TableCount, 1)
	i.word(buckets, entry)
	i.word(entry+i.EntryKey, code)
	i.word(entry+i.EntryValue, lines)

	i.word(state, code)
	x := state + 24
	i.word(x+i.CommandType, i.TypeCode)
	i.word(x+i.CommandCode, code)
	i.word(x+i.CommandPC, start+5)
	i.word(x+i.CommandCall, procedure(inner, "spins"))
	y, z := i.room(96), i.room(96)
	i.word(y+i.CommandType, i.TypeEval)
	i.word(y+i.CommandCall, procedure(global, "resumes"))
	line := i.room(16)
	i.number(line, 9)
	i.word(y+i.CommandNext, z)
	i.word(z+i.CommandType, i.TypeSource)
	i.word(z+i.CommandLine, line)
	i.word(z+i.CommandPath, file)
	callback := i.room(64)
	i.word(callback+i.CallbackData+8, y)
	i.word(outside+i.EnvironmentCallback, callback)

	i.word(interp+i.InterpGlobal, global)
	i.word(interp+i.InterpEnvironment, within)
	i.word(interp+i.InterpLines, table)
	i.word(coroutine+i.CoroutineCommand, y)
	return i.b, state
}

// read reads the frames of an interpreter in which one loop runs.
func read(l *layout, b []byte, state uint64) (frames []language.Frame, err error) {
	memory := structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare)
	defer memory.Free()
	m := add(nil, &reader{Reader: memory, layout: l}, interp, &budget{mostBytes, mostRecords})[0]
	list, err := m.commands()
	if err != nil {
		return nil, err
	}
	c, err := m.callbacks()
	if err != nil {
		return nil, err
	}
	// The loop runs a callback whose data is the state: it is on the heap, behind all the rest.
	b = append(b[:len(b):len(b)], make([]byte, 64)...)
	callback := base + uint64(len(b)) - 64
	binary.LittleEndian.PutUint64(b[callback-base+l.CallbackData:], state)
	other := structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare)
	defer other.Free()
	m.Reader = other
	for _, x := range m.divide(list, []*loop{{level: 1, interp: interp, values: []uint64{callback, 0}}}, c) {
		frames = append(frames, m.frame(x))
	}
	return frames, nil
}

// TestSmall has frames of each layout read.
func TestSmall(t *testing.T) {
	for _, l := range layouts() {
		b, state := small(l)
		frames, err := read(l, b, state)
		if err != nil || len(frames) != 3 {
			t.Fatalf("%#x: %+v, %v", l.StubsMagic, frames, err)
		}
		for i, want := range []language.Frame{
			{Function: "::ns::spins", File: "a.tcl", Line: 4, Guess: true},
			{Function: "::resumes", Kind: "eval"},
			{Function: "<script>", File: "a.tcl", Line: 9},
		} {
			got := frames[i]
			if got.Function != want.Function || got.File != want.File || got.Line != want.Line || got.Kind != want.Kind || got.Guess != want.Guess {
				t.Errorf("%#x: %+v, want %+v", l.StubsMagic, got, want)
			}
		}
	}
}

// FuzzFrames reads frames of each layout, and all that they lead to.
func FuzzFrames(f *testing.F) {
	for n, l := range layouts() {
		b, state := small(l)
		f.Add(byte(n), uint16(state-base), b)
	}
	f.Fuzz(func(t *testing.T, n byte, state uint16, b []byte) {
		l := layouts()[int(n)%len(layouts())]
		bounds.Hold(t, 256<<20, func() { read(l, b, base+uint64(state)) })
	})
}
