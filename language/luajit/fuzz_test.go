package luajit

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/luajit"
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

const (
	main, global, slots, outerFn, innerFn, fileText, machine, trace = base + 0x100, base + 0x160, base + 0x600, base + 0x800, base + 0x840, base + 0xa00, base + 0x40, base + 0xc00
	code                                                            = base + 0x900 + luajit.Proto
)

// small returns memory with a state: a function of Lua has called itself. A trace begins where it
// calls.
func small() []byte {
	b := make([]byte, 0x1000)
	word := func(at, v uint64) { binary.LittleEndian.PutUint64(b[at-base:], v) }
	half := func(at, v uint64) { binary.LittleEndian.PutUint32(b[at-base:], uint32(v)) }
	word(machine+16, main) // the machine's frame leads to the state
	b[main-base+luajit.StateType] = luajit.TypeThread
	word(main+luajit.StateGlobal, global)
	word(main+luajit.StateStack, slots)
	half(main+luajit.StateSize, 32)
	word(main+luajit.StateBase, slots+0x48)
	word(main+luajit.StateCFrame, machine)
	word(global+luajit.GlobalMain, main)
	word(slots, tagThread<<tagShift|main)
	const proto = code - luajit.Proto
	b[proto-base+luajit.StateType] = luajit.TypeProto
	half(proto+luajit.ProtoSize, 4)
	half(proto+luajit.ProtoLine, 5)
	half(proto+luajit.ProtoLines, 9)
	word(proto+luajit.ProtoChunk, fileText)
	word(proto+luajit.ProtoInfo, fileText+0x80)
	copy(b[fileText+0x80-base:], "\x01\x02\x03\x04")
	half(fileText+luajit.StringSize, 4)
	copy(b[fileText+luajit.StringText-base:], "@abc")
	for _, fn := range []uint64{outerFn, innerFn} {
		b[fn-base+luajit.StateType] = luajit.TypeFunc
		word(fn+luajit.FuncPC, code)
	}
	half(code+8, 66|3<<8) // CALL 3
	word(slots+16, tagFunc<<tagShift|outerFn)
	word(slots+24, 16|linkC)
	word(slots+0x38, tagFunc<<tagShift|innerFn)
	word(slots+0x40, code+12)
	b[trace-base+luajit.StateType] = luajit.TypeTrace
	b[trace-base+luajit.TraceSnaps] = 1
	word(trace+luajit.TraceSnap, trace+0x100)
	word(trace+luajit.TraceMap, trace+0x140)
	half(trace+44, 4)
	b[trace+0x100-base+10] = 2
	half(trace+0x140, 1<<24|0x10000|0x40000)
	half(trace+0x144, 2<<24)
	word(trace+0x148, (code+12)<<8)
	return b
}

// read reads the calls of the state, and what a way out of the trace makes of them.
func read(b []byte, pc uint64) (list []language.Frame, why string) {
	x := &runtime{arch: amd64.Arch, machine: &luajit.Machine{}}
	r := x.reader(nil)
	r.Reader = structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare)
	defer r.Free()
	at, ok := luajit.FrameAt(r, amd64.Arch.LuaJIT, machine)
	s, ok2 := r.stackOf(at)
	if !ok || !ok2 {
		return nil, "there is no state"
	}
	t, ok := s.at(s.base, pc, moment{})
	if !ok {
		r.Err()
		t, _ = s.about(s.base)
	}
	calls, why := s.calls(t)
	for _, c := range calls {
		list = append(list, r.frameOf(at.Global, c))
	}
	if c, ok := luajit.CompilerOf(r, at.Global); ok {
		c.Has(pc)
		if found, ok := c.Find(pc); ok {
			found.Exit(found.ExitAt(pc, 1))
		}
	}
	if tr, ok := luajit.TraceAt(r, trace); ok {
		if t, ok := s.exit(&tr, pc&3, s.base); ok {
			s.calls(t)
		}
	}
	return list, why
}

// TestSmall has the calls read.
func TestSmall(t *testing.T) {
	list, why := read(small(), code+8)
	if why != "" || len(list) != 2 || list[0].File != "abc" || list[0].Line != 6 || list[1].Line != 7 {
		t.Errorf("%+v, %q", list, why)
	}
}

// FuzzCalls reads calls and all that they lead to.
func FuzzCalls(f *testing.F) {
	f.Add(small(), uint16(code+8-base))
	f.Fuzz(func(t *testing.T, b []byte, pc uint16) {
		bounds.Hold(t, 256<<20, func() { read(b, base+uint64(pc)) })
	})
}

// parked returns memory in which a function of Lua has called itself in a coroutine that has
// yielded. Its main state, without a function, is right before global.
func parked() []byte {
	b := small()
	b = append(b, make([]byte, 0x1000)...)
	word := func(at, v uint64) { binary.LittleEndian.PutUint64(b[at-base:], v) }
	const other, stack, co = base + 0x1000, base + 0x1f00, uint64(main)
	word(co+luajit.StateGlobal, other+0x60)
	word(co+luajit.StateCFrame, 0)
	b[co-base+luajit.StateStatus] = yielded
	b[other-base+luajit.StateType] = luajit.TypeThread
	word(other+luajit.StateGlobal, other+0x60)
	word(other+luajit.StateStack, stack)
	binary.LittleEndian.PutUint32(b[other-base+luajit.StateSize:], 16)
	word(stack, tagThread<<tagShift|other)
	word(other+0x60+luajit.GlobalMain, other)
	word(other+0x60+luajit.GlobalObjects, co)
	return b
}

// readTasks lists the coroutines of a memory.
func readTasks(b []byte) ([]language.Task, error) {
	writable := []target.Mapping{{Lo: base, Hi: base + uint64(len(b))}}
	x := &runtime{arch: amd64.Arch, machine: &luajit.Machine{}, writable: func() []target.Mapping { return writable }}
	return x.Tasks(memtest.Flat{Lo: base, Data: b})
}

// TestSmallTasks has a coroutine found and read.
func TestSmallTasks(t *testing.T) {
	list, err := readTasks(parked())
	if err != nil || len(list) != 1 || list[0].State != "suspended" || len(list[0].Frames) != 2 || list[0].Frames[1].Line != 7 {
		t.Errorf("%+v, %v", list, err)
	}
}

// FuzzTasks lists the coroutines of any memory.
func FuzzTasks(f *testing.F) {
	f.Add(parked())
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 256<<20, func() { readTasks(b) })
	})
}
