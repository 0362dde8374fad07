package pypy

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const base = 0x10000

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// lines are a list of types as PyPy has it, short.
var list = []string{
	"member0    ?\n",
	"member1    GcStruct JITFRAME { jf_frame_info, jf_descr, jf_force_descr, jf_gcmap, jf_savedata, jf_guard_exc, jf_forward, jf_frame }\n",
	"member2    GcStruct rpy_string { hash, chars }\n",
	"member4    GcStruct JitVirtualRef { super, virtual_token, forced }\n",
	"member6    GcStruct pypy.interpreter.pyframe.PyFrame { super, vable_token, inst_space, inst_debugdata, inst_f_backref, inst_last_instr, inst_pycode }\n",
	"member7    GcStruct pypy.objspace.std.frame.StdObjSpaceFrame { super, inst_w_yielding_from }\n",
	"member8    GcStruct pypy.interpreter.eval.Code { super, inst_co_name, inst_fast_natural_arity, inst_hidden_applevel }\n",
	"member9    GcStruct pypy.interpreter.pycode.PyCode { super, inst_space, inst__vmprof_unique_id, inst_co_filename, inst_co_firstlineno, inst_co_lnotab }\n",
	"member10   GcStruct pypy.interpreter.executioncontext.ExecutionContext { super, inst_space, inst_topframeref }\n",
	"member11   GcStruct rpython.rlib.rvmprof.rvmprof.WeakCodeObjectList { super, inst_free_list, inst_handles }\n",
	"member12   GcStruct weakref { weakptr }\n",
}

// small returns a run time with these types.
func small(t testing.TB) *runtime {
	t.Helper()
	r := &runtime{types: &types{map[string]map[string]uint64{}, map[string]uint32{}}, size: 0x10}
	for i, line := range list {
		if name, fields, ok := parseType(line); ok {
			r.types.fields[name], r.types.ids[name] = fields, uint32(8*i+8)
		}
	}
	if err := r.layout.of(r.types); err != nil {
		t.Fatal(err)
	}
	return r
}

// memory is what objects are made in.
type memory struct {
	r    *runtime
	b    []byte
	next uint64
}

func (m *memory) word(at, v uint64) { binary.LittleEndian.PutUint64(m.b[at-base:], v) }

// object makes an object of a type with n words behind its header.
func (m *memory) object(name string, words ...uint64) uint64 {
	at := m.next
	m.next += 8 + 8*uint64(len(words))
	m.word(at, uint64(m.r.types.ids[name])|5<<32)
	for i, v := range words {
		m.word(at+8+8*uint64(i), v)
	}
	return at
}

func (m *memory) text(s string) uint64 {
	at := m.object(rpyString, append([]uint64{0, uint64(len(s))}, make([]uint64, (len(s)+7)/8)...)...)
	copy(m.b[at+stringChars-base:], s)
	return at
}

// function makes a code object; its table of lines has a line for each four bytes.
func (m *memory) function(number uint64, name string) uint64 {
	return m.object(pyCode, m.text(name), 0, 0, number, m.text("a.py"), 10, m.text("\x00\x01\x04\x01\x04\x01"))
}

// process makes a thread at base that runs three functions: two that are interpreted, and in
// between one that is compiled, with another inlined in it. Its compiled code is at 0x7000.
func process(r *runtime) []byte {
	m := &memory{r, make([]byte, 0x1000), base + 0x100}
	outer, inlined, inner := m.function(4, "outer"), m.function(8, "inlined"), m.function(12, "inner")
	outerFrame := m.object(stdFrame, 0, 0, 0, 4, outer)
	jit := m.object(jitFrame, 0, 0, 0, base+0x80, 0, 0, 0, 2, 0, outerFrame)
	m.word(base+0x80, 1)
	m.word(base+0x88, 2)
	reference := m.object(virtualRef, jit, 0)
	innerFrame := m.object(stdFrame, 0, 0, reference, 8, inner)
	m.word(base, m.object(executionContext, innerFrame))
	records := m.next
	m.word(base+8, records)
	for i, rec := range []record{{0, 12, 1}, {0, base + 0x40, 3}, {0, 4, 1}} {
		at := records + 24*uint64(i)
		m.word(at, (at+24)*uint64(1-i/2))
		m.word(at+8, rec.value)
		m.word(at+16, rec.kind)
	}
	m.next += 24 * 3
	node := m.object("", 0, 0, 0, 0, 0, 0, 0, 0, 0)
	parts := node + 0x50
	for i, v := range []uint64{4, 0, 0x100, 8, 8, 0x10, 0x40, 8} {
		m.word(parts+8*uint64(i), v)
	}
	m.next = parts + 0x40
	m.word(node, 0x7000)
	m.word(node+8, node+24)
	m.word(node+16, 0)
	m.word(node+24, 0x100|8<<32)
	m.word(node+32, parts)
	m.word(base+0x20+nodeNext, node)
	list := m.object(codeList, 0, base+0x60)
	m.word(base+0x60+arrayLength, 1)
	m.word(base+0x60+arrayItems, m.object(weakReference, inlined))
	m.word(base+0x18, list)
	return m.b
}

// read reads all of a thread, as from a stack of which nothing is known but the compiled code.
func read(t testing.TB, b []byte) (elements []element, names map[uint64]uint64, err error) {
	r := small(t)
	r.codemap.Store(base + 0x20)
	m := &reader{runtime: r, Reader: structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare), known: map[uint64]*code{}, all: map[uint64]uint64{}, work: mostWork, texts: mostTexts}
	defer m.Free()
	thread, _ := r.threadOf(m.Reader, base)
	for i, rec := range thread.records {
		numbers, _ := m.compiled(0x7020, rec.value)
		m.isList(rec.value)
		for j, n := range numbers {
			elements = append(elements, element{number: n, record: i, inside: rec.kind == 3 && j > 0, enters: j == 0})
		}
		if i > 1<<6 || len(elements) > 1<<10 {
			break
		}
		if rec.kind == 1 {
			elements = append(elements, element{number: rec.value, record: i, enters: true})
		}
	}
	p := &placer{m: m, records: thread.records, chain: chain{m: m, at: m.Pointer(thread.context + r.layout.top)}}
	segments, complete := p.segments(elements)
	align(elements, segments, complete)
	for i := range elements {
		if f := elements[i].frame; f != nil {
			m.line(f.code, f.instruction)
		}
	}
	err = m.Err()
	m.readList(m.Pointer(base + 0x18))
	return elements, m.all, err
}

// TestSmall has such a thread read.
func TestSmall(t *testing.T) {
	elements, all, err := read(t, process(small(t)))
	found := map[string]bool{}
	for _, e := range elements {
		if e.frame != nil {
			found[e.frame.code.name+" "+e.frame.code.file] = true
		}
	}
	if err != nil || !found["inner a.py"] || !found["outer a.py"] || len(all) != 1 || all[8] == 0 {
		t.Errorf("%v, %v, %+v, %v", found, all, elements, err)
	}
}

// FuzzThread reads a thread that lies about everything.
func FuzzThread(f *testing.F) {
	f.Add(process(small(f)))
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 256<<20, func() { _, _, _ = read(t, b) })
	})
}

// FuzzLines reads lists of types, and tables of lines.
func FuzzLines(f *testing.F) {
	for _, line := range list {
		f.Add(line, "\x02\x07\x08\x00\x02\x00", int64(2))
	}
	f.Add("member6 GcStruct x {  }", "\xff\xff\xff\xff\xff\xff", int64(-1))
	f.Fuzz(func(t *testing.T, line, lines string, offset int64) {
		bounds.Hold(t, 1<<20+100*(len(line)+len(lines)), func() {
			parseType(line)
			for _, table := range []bool{false, true} {
				if n := lineOf(lines, table, 3, offset); n < 0 {
					t.Errorf("line %d", n)
				}
			}
			unpack([]byte(lines), 1<<10)
		})
	})
}

// TestLines has the tables that PyPy 7.3.11 and 7.3.19 make of one function: see the lines of each
// instruction.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		lines string
		table bool
		want  []int
	}{
		{"\x00\x01\x04\x01\x0c\x01\x04\x01\x02\xff\x08\x02\x06\x01\x06\xff", false, []int{2, 2, 3, 3, 3, 3, 3, 3, 4, 4, 5, 4, 4, 4, 4, 6, 6, 6, 7, 7, 7, 6}},
		{"\x02\x07\x08\x00\x02\x05\x06\x00\x03\x0e\x13\x00\x03\x14\x15\x00\x00\x03\x00\x05\x01\x02\x00\x81\x01\x00", true, []int{2, 2, 3, 3, 0, 3, 5, 129, 0}},
	} {
		for i, want := range c.want {
			if got := lineOf(c.lines, c.table, 1, int64(2*i)); got != want {
				t.Errorf("instruction %d is in line %d, want %d", i, got, want)
			}
		}
	}
	if got := lineOf("", true, 7, -1); got != 7 {
		t.Errorf("a function that has not begun is in line %d", got)
	}
}
