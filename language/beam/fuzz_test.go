package beam

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/erts"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const (
	imageAt = 0x10000
	size    = 0x4000
)

// process is memory with a run time system: a table of processes with one process, whose stack
// leads to a module with one function, and two atoms. variables are where the run time system has
// its variables.
func process() (image []byte, variables map[string]uint64) {
	image = make([]byte, size)
	l := erts.LayoutOf("jit", 27)
	put := func(at, v uint64) uint64 { binary.LittleEndian.PutUint64(image[at:], v); return imageAt + at }
	put4 := func(at uint64, v uint32) { binary.LittleEndian.PutUint32(image[at:], v) }
	variables = map[string]uint64{
		"erts_atom_table": imageAt + 0x100, "erts_proc": imageAt + 0x200, "the_active_code_index": imageAt + 0x400, "ranges": imageAt + 0x420,
		"__jit_debug_descriptor": imageAt + 0x500, "erts_aligned_scheduler_data": imageAt + 0x600,
	}
	// Atoms 0 and 1.
	put4(0x100+l.Of("index.entries"), 2)
	put(0x100+l.Of("index.segments"), imageAt+0x700)
	put(0x700, imageAt+0x740)
	for i := range uint64(2) {
		at := 0x800 + 0x40*i
		put(0x740+8*i, imageAt+at)
		put4(at+l.Of("atom.index"), uint32(i))
		image[at+l.Of("atom.length")] = 4
		put(at+l.Of("atom.name"), imageAt+0x900)
	}
	copy(image[0x900:], "true")
	// A module with one function.
	put(0x420, imageAt+0x980)
	put(0x428, 1)
	put(0x430, 1)
	put(0x980, imageAt+0x1000)
	put(0x988, imageAt+0x1400)
	header := uint64(0x1000)
	put(header+l.Of("code.count"), 1)
	put(header+l.Of("code.lines"), imageAt+0x1800)
	info := uint64(0x1100)
	put(header+l.Of("code.functions"), imageAt+info)
	put(header+l.Of("code.functions")+8, imageAt+0x1300)
	put(info+l.Of("function.module"), 0x0b)
	put(info+l.Of("function.name"), 1<<6|0x0b)
	put(info+l.Of("function.arity"), 3)
	// Its lines.
	put(0x1800+l.Of("lines.files"), imageAt+0x1900)
	put4(0x1800+l.Of("lines.size"), 4)
	put(0x1800+l.Of("lines.places"), imageAt+0x1940)
	put(0x1800+l.Of("lines.functions"), imageAt+0x1980)
	put(0x1808+l.Of("lines.functions"), imageAt+0x1990)
	put(0x1980, imageAt+0x1100)
	put(0x1988, imageAt+0x1200)
	put4(0x1940, 17)
	put4(0x1944, 18)
	put(0x1900, imageAt+0x1a00|1) // a list of one character
	put(0x1a00, 'e'<<4|0xf)
	put(0x1a08, 0x3b)
	// A process.
	p := uint64(0x2000)
	put(0x200+l.Of("table.processes"), imageAt+0x1b00)
	put4(0x200+l.Of("table.most"), 2)
	put(0x1b00, imageAt+p)
	put(p+l.Of("process.id"), 5<<4|3)
	put(p+l.Of("process.heap"), imageAt+0x2800)
	put(p+l.Of("process.htop"), imageAt+0x2810)
	put(p+l.Of("process.stop"), imageAt+0x2820)
	put(p+l.Of("process.hend"), imageAt+0x2840)
	put(p+l.Of("process.i"), imageAt+0x1140)
	put(0x2828, imageAt+0x1210)
	put(p+l.Of("process.links"), imageAt+0x2900)
	put(0x2900+l.Of("link.other"), 7<<4|3)
	put(p+l.Of("process.registered"), imageAt+0x2980)
	put(0x2980+l.Of("registered.name"), 1<<6|0x0b)
	return image, variables
}

func look(t testing.TB, image []byte, variables map[string]uint64) (tasks int) {
	t.Helper()
	m := memtest.Flat{Lo: imageAt, Data: image}
	x := newRuntime(erts.Known("jit", 27, amd64.Arch, variables))
	list, _ := x.Tasks(m)
	for i := range list {
		if len(list[i].Links) > mostLinks+1 || len(list[i].Frames) > mostStack {
			t.Fatalf("%d links, %d frames", len(list[i].Links), len(list[i].Frames))
		}
	}
	base := structs.New(amd64.Arch, m, &x.pages) // after Tasks has given its pages back
	defer base.Free()
	r := x.reader(base)
	for _, pc := range []uint64{0, imageAt + 0x1140, imageAt + 0x12ff, ^uint64(0)} {
		r.frameAt(pc)
		r.code.Fragment(pc)
		r.Err()
	}
	for _, scheduler := range x.Schedulers(r.Reader) {
		r.runs(scheduler)
	}
	p := running{reader: r, process: imageAt + 0x2000}
	for _, stack := range []uint64{0, imageAt + 0x2820, imageAt + 0x2828, ^uint64(7)} {
		if !p.read() {
			r.Err()
			break
		}
		if list, _, ok := p.addresses(imageAt+0x1140, stack, true); ok {
			r.frames(list)
		}
	}
	return len(list)
}

// TestImage holds that the memory of FuzzProcess is read as it is meant.
func TestImage(t *testing.T) {
	image, variables := process()
	x := newRuntime(erts.Known("jit", 27, amd64.Arch, variables))
	list, err := x.Tasks(memtest.Flat{Lo: imageAt, Data: image})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	got := list[0]
	if got.Name != "<0.5.0> 'true'" && got.Name != "<0.5.0> true" || len(got.Links) != 1 || got.Links[0] != "<0.7.0>" || len(got.Frames) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, line := range []int{17, 18} {
		if f := got.Frames[i]; f.Function != "true:true/3" || f.File != "e" || f.Line != line {
			t.Errorf("%+v, want line %d", f, line)
		}
	}
}

// TestInterpreted holds what an instruction and a stack tell of a process: also as it calls, as it
// returns, and while its heap is replaced.
func TestInterpreted(t *testing.T) {
	const heap, end, code, other = imageAt + 0x2800, imageAt + 0x2840, imageAt + 0x1140, imageAt + 0x1210
	l := erts.LayoutOf("jit", 27)
	for _, c := range []struct {
		what        string
		instruction uint64
		stack, stop uint64
		collected   bool
		word        uint64 // at the innermost place of the stack
		frames      int    // 0 if the stack is not the process's
	}{
		{"in a function", code, imageAt + 0x2820, heap + 8, false, 0x3b, 2},
		{"in a function without variables", code, imageAt + 0x2820, heap + 8, false, other, 3},
		{"about to call", code, imageAt + 0x2820, heap + 8, false, code + 16, 2},
		{"just returned", other, imageAt + 0x2820, heap + 8, false, other, 2},
		{"another process's", code, imageAt + 0x3000, heap + 8, false, 0x3b, 0},
		{"no code", imageAt, imageAt + 0x2820, heap + 8, false, 0x3b, 0},
		{"the heap is another one already", code, imageAt + 0x3000, imageAt + 0x2820, true, 0x3b, 2},
		{"the stack has moved, the heap not yet", code, end - 32, imageAt + 0x3000, true, 0x3b, 1},
	} {
		image, variables := process()
		put := func(at, v uint64) { binary.LittleEndian.PutUint64(image[at-imageAt:], v) }
		put(imageAt+0x2000+l.Of("process.stop"), c.stop)
		if c.collected {
			put(imageAt+0x2000+l.Of("process.state"), l.Of("state.garbage"))
		}
		put(imageAt+0x2820, c.word)
		x := newRuntime(erts.Known("jit", 27, amd64.Arch, variables))
		base := structs.New(amd64.Arch, memtest.Flat{Lo: imageAt, Data: image}, &x.pages)
		p := running{reader: x.reader(base), process: imageAt + 0x2000}
		frames := 0
		if p.read() {
			if list, _, ok := p.addresses(c.instruction, c.stack, true); ok {
				frames = len(p.frames(list))
			}
		}
		if frames != c.frames {
			t.Errorf("%s: %d frames, want %d", c.what, frames, c.frames)
		}
		base.Free()
	}
}

// pagesRoom is what a look at a process takes for the pages that it reads, however few.
const pagesRoom = 2 << 20

// FuzzProcess changes words of a process. Whatever they are, the readers end, within the bounds of
// SECURITY.md.
func FuzzProcess(f *testing.F) {
	f.Add([]byte{})
	image, _ := process()
	for at := 0; at < size; at += 8 {
		if v := binary.LittleEndian.Uint64(image[at:]); v != 0 {
			for _, to := range []uint64{0, ^uint64(0), imageAt, imageAt + 0x2900, v + 1, 1 << 40} {
				f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, uint16(at/8)), to))
			}
		}
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		image, variables := process()
		for n := 0; len(changes) >= 10 && n < 64; n, changes = n+1, changes[10:] {
			at := int(binary.LittleEndian.Uint16(changes)) * 8 % size
			copy(image[at:], changes[2:10])
		}
		bounds.Hold(t, len(image)+pagesRoom, func() { look(t, image, variables) })
	})
}
