package lua

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
	"github.com/sfwalk/sfwalk/target"
)

const base = 0x10000

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// small returns memory with a state whose two calls are of Lua; the outer one leads to the call at
// the address back, and has called a local variable.
func small(l *layout, back uint64) ([]byte, state) {
	const at, global, calls, stack, closure, proto, source, code, lines, variables = base + 0x100, base + 0x300, base + 0x900, base + 0xb00,
		base + 0xc00, base + 0xc40, base + 0xd00, base + 0xd80, base + 0xe00, base + 0xe80
	b := make([]byte, 0x1000)
	word := func(at, v uint64) { binary.LittleEndian.PutUint64(b[at-base:], v) }
	half := func(at, v uint64) { binary.LittleEndian.PutUint32(b[at-base:], uint32(v)) }
	inner, outer, first := uint64(calls), uint64(calls+0x80), at+l.StateBase
	if l.Version == 501 {
		inner, outer, first = calls+2*l.Call, calls+l.Call, calls
		word(at+l.StateBase, first)
		word(at+l.StatePC, code+4)
	} else {
		word(inner+l.CallPrevious, outer)
		word(outer+l.CallPrevious, first)
		if back != 0 {
			word(outer+l.CallPrevious, back)
		}
	}
	word(at+l.StateCall, inner)
	for _, c := range []uint64{inner, outer} {
		word(c+l.CallFunc, stack)
		word(c+l.CallPC, code+4)
	}
	word(stack, closure)
	half(stack+l.ValueType, l.TypeFunction)
	word(closure+l.ClosureProto, proto)
	word(proto+l.ProtoCode, code)
	half(proto+l.ProtoSize, 2)
	word(proto+l.ProtoLines, lines)
	half(proto+l.ProtoLinesSize, 2)
	half(lines, 7)
	half(code, uint64(slices.IndexFunc(l.ops, func(o operation) bool { return o.name == "CALL" })))
	word(proto+l.ProtoVariables, variables)
	half(proto+l.ProtoVariablesSize, 1)
	word(variables+l.VariableName, source)
	half(variables+l.VariableEnd, 9)
	word(proto+l.ProtoSource, source)
	copy(b[source-base+l.StringText:], "@abc")
	if l.StringShort != absent {
		b[source-base+l.StringShort] = 4
	} else {
		word(source+l.StringLength, 4)
	}
	return b, state{at: at, global: global}
}

func read(release uint8, b []byte, st state) (list []language.Frame, err error) {
	releases := [][2]int{{1, 5}, {2, 4}, {3, 6}, {4, 0}, {4, 4}, {5, 0}}
	of := releases[int(release)%len(releases)]
	l, err := layoutOf(of[0], of[1])
	if err != nil {
		return nil, err
	}
	r := &runtime{arch: amd64.Arch, layout: l}
	m := reader{structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare), l}
	defer m.Free()
	r.isState(m, st.at)
	calls, err := r.calls(m, st)
	p := r.newPlacer(&language.Stack{Arch: amd64.Arch})
	return p.frames(m, run{calls: calls}, r.globalsOf(m, st.global), -1), err
}

// TestSmall has the calls of each release read, and a list of them that goes round.
func TestSmall(t *testing.T) {
	for release, of := range [][2]int{{1, 5}, {2, 4}, {3, 6}, {4, 0}, {4, 4}, {5, 0}} {
		l, err := layoutOf(of[0], of[1])
		if err != nil {
			t.Fatal(err)
		}
		b, st := small(l, 0)
		list, err := read(uint8(release), b, st)
		if err != nil || len(list) != 2 || list[0].File != "abc" || list[0].Line != 7 || list[0].Function != "@abc" {
			t.Errorf("5.%d.%d: %+v, %v", of[0], of[1], list, err)
		}
		b, st = small(l, base+0x900)
		if list, err := read(uint8(release), b, st); err == nil && l.Version != 501 {
			t.Errorf("5.%d.%d: a list that goes round has %d calls", of[0], of[1], len(list))
		}
	}
}

// FuzzCalls reads calls and all that they lead to.
func FuzzCalls(f *testing.F) {
	for release, of := range [][2]int{{1, 5}, {2, 4}, {3, 6}, {4, 0}, {4, 4}, {5, 0}} {
		l, err := layoutOf(of[0], of[1])
		if err != nil {
			f.Fatal(err)
		}
		b, st := small(l, 0)
		f.Add(uint8(release), b, uint16(st.at-base), uint16(st.global-base))
	}
	f.Fuzz(func(t *testing.T, release uint8, b []byte, at, global uint16) {
		bounds.Hold(t, 256<<20, func() {
			read(release, b, state{at: base + uint64(at), global: base + uint64(global)})
		})
	})
}

// parked returns memory in which the state of small is a coroutine that has yielded.
func parked(l *layout) []byte {
	b, st := small(l, 0)
	b = append(b, make([]byte, 0x1000)...)
	word := func(at, v uint64) { binary.LittleEndian.PutUint64(b[at-base:], v) }
	const main, stack = base + 0x1000, base + 0x1f00
	global := uint64(main + 0x200)
	if l.GlobalWithin != absent {
		global = main - l.GlobalMain
	} else {
		word(global+l.GlobalMain, main)
	}
	for _, at := range []uint64{main, st.at} {
		b[at-base+l.ObjectType] = byte(l.ObjectThread)
		word(at+l.StateGlobal, global)
		word(at+l.StateStack, stack)
	}
	word(main+l.StateCall, main+l.StateBase)
	word(global+l.GlobalObjects, st.at)
	b[st.at-base+l.StateStatus] = byte(l.StateYielded)
	return b
}

// readTasks lists the coroutines of a memory.
func readTasks(release uint8, b []byte) ([]language.Task, error) {
	releases := [][2]int{{1, 5}, {2, 4}, {3, 6}, {4, 0}, {4, 4}, {5, 0}}
	of := releases[int(release)%len(releases)]
	l, err := layoutOf(of[0], of[1])
	if err != nil {
		return nil, err
	}
	writable := []target.Mapping{{Lo: base, Hi: base + uint64(len(b))}}
	r := &runtime{arch: amd64.Arch, layout: l, writable: func() []target.Mapping { return writable }}
	return r.Tasks(memtest.Flat{Lo: base, Data: b})
}

// TestSmallTasks has a coroutine of each release found and read.
func TestSmallTasks(t *testing.T) {
	for release, of := range [][2]int{{1, 5}, {2, 4}, {3, 6}, {4, 0}, {4, 4}, {5, 0}} {
		l, err := layoutOf(of[0], of[1])
		if err != nil {
			t.Fatal(err)
		}
		list, err := readTasks(uint8(release), parked(l))
		if err != nil || len(list) != 1 || list[0].State != "suspended" || len(list[0].Frames) != 2 || list[0].Frames[1].File != "abc" {
			t.Errorf("5.%d.%d: %+v, %v", of[0], of[1], list, err)
		}
	}
}

// FuzzTasks lists the coroutines of any memory.
func FuzzTasks(f *testing.F) {
	for release, of := range [][2]int{{1, 5}, {2, 4}, {3, 6}, {4, 0}, {4, 4}, {5, 0}} {
		l, err := layoutOf(of[0], of[1])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(release), parked(l))
	}
	f.Fuzz(func(t *testing.T, release uint8, b []byte) {
		bounds.Hold(t, 256<<20, func() { readTasks(release, b) })
	})
}
