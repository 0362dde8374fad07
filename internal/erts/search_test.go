package erts

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/target"
)

// Of the memory of a run time system that exports nothing, variables are at the beginning, and what
// they lead to is behind.
const (
	imageAt       = 0x10000
	variableBytes = 0x1800
	imageBytes    = 0x8000
)

// hiddenProcess is the memory of such a run time system, and where its variables are.
func hiddenProcess() (image []byte, variables map[string]uint64) {
	image = make([]byte, imageBytes)
	l := LayoutOf("jit", 29)
	put := func(at, v uint64) { binary.LittleEndian.PutUint64(image[at:], v) }
	put4 := func(at uint64, v uint32) { binary.LittleEndian.PutUint32(image[at:], v) }
	// The list of code for debuggers: the run time system itself, and code that functions share.
	descriptor := uint64(0x40)
	put4(descriptor, 1)
	put(descriptor+16, imageAt+0x2000)
	put(0x2000, imageAt+0x2040) // the next one
	put(0x2000+16, imageAt+0x2100)
	put(0x2000+24, 64)
	put4(0x2100, 0)
	put4(0x2100+8, 1) // it has frame pointers
	put(0x2100+16, imageAt+0x7000)
	put(0x2040+16, imageAt+0x2200)
	put(0x2040+24, 128)
	put4(0x2200, 1)
	put(0x2200+8, imageAt+0x7000)
	put4(0x2200+16, 1)
	binary.LittleEndian.PutUint16(image[0x2200+24:], uint16(len("global")+1))
	copy(image[0x2200+26:], "global")
	part := uint64(0x2200 + 32 + len("global") + 1)
	put4(part+4, 0x80)
	binary.LittleEndian.PutUint16(image[part+12:], uint16(len("global::process_main")+1))
	copy(image[part+14:], "global::process_main")
	// Atoms.
	atoms := uint64(0x100)
	put4(atoms+l.Of("index.entries")-8, leastAtoms)
	put4(atoms+l.Of("index.entries")-4, leastAtoms)
	put4(atoms+l.Of("index.entries"), leastAtoms)
	put(atoms+l.Of("index.segments"), imageAt+0x2400)
	put(0x2400, imageAt+0x2440)
	for i, name := range []string{"false", "true"} {
		at, text := uint64(0x2500+0x80*i), uint64(0x2600+0x40*i)
		put(uint64(0x2440+8*i), imageAt+at)
		put4(at+l.Of("atom.index"), uint32(i))
		image[at+l.Of("atom.length")] = byte(len(name))
		put(at+l.Of("atom.binary"), imageAt+text|tagBoxed)
		put(text, l.Of("term.heap_bits"))
		put(text+8, uint64(8*len(name)))
		copy(image[text+16:], name)
	}
	// The table of processes.
	table := uint64(0x400)
	const most = 1024
	put(table+l.Of("table.processes"), imageAt+0x3000)
	put4(table+l.Of("table.most"), most)
	put4(table+l.Of("table.count"), 3)
	put(table+l.Of("table.invalid"), imageAt+0x800)
	put(table+l.Of("table.index_mask"), most-1)
	put(table+l.Of("table.line_mask"), most/8-1)
	put(table+l.Of("table.place_mask"), 7)
	put(table+l.Of("table.element_size"), l.Of("process.bytes"))
	// A scheduler, and its thread.
	put(0x900, imageAt+0x6000)
	put4(0x6000+l.Of("scheduler.type"), uint32(l.Of("scheduler.normal")))
	put(0x6000+l.Of("scheduler.number"), 1)
	put(0x6000+l.Of("scheduler.tid"), imageAt+0x6800)
	put(0x6800+16, imageAt+0x6800)
	return image, map[string]uint64{
		"__jit_debug_descriptor": imageAt + descriptor, "erts_atom_table": imageAt + atoms, "erts_proc": imageAt + table, "erts_aligned_scheduler_data": imageAt + 0x900,
	}
}

// searched looks for the variables of the memory of a process.
func searched(image []byte) (*search, error) {
	r := NewReader(memtest.Flat{Lo: imageAt, Data: image}, amd64.Arch)
	m := &Machine{Layout: LayoutOf("jit", 29), Otp: 29, Arch: amd64.Arch, Module: &target.Module{}, found: map[string]uint64{}}
	s, err := m.searchIn(r, imageAt, imageAt+variableBytes)
	if err != nil {
		return nil, err
	}
	m.JIT = s.descriptor()
	return s, s.all()
}

// TestSearch holds that all variables are found, and what the list for debuggers tells.
func TestSearch(t *testing.T) {
	image, want := hiddenProcess()
	s, err := searched(image)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(s.found, want) {
		t.Errorf("found %#x, want %#x", s.found, want)
	}
	if !s.JIT || !s.FramePointers || s.NormalExit != imageAt+0x7000 {
		t.Errorf("%v, %v, %#x", s.JIT, s.FramePointers, s.NormalExit)
	}
	if got := s.readFragments(s.r); !slices.Equal(got, []Fragment{{"process_main", imageAt + 0x7000, imageAt + 0x7080}}) {
		t.Errorf("shared code: %v", got)
	}
	if list := s.Schedulers(s.r); len(list) != 1 || list[imageAt+0x6800] != imageAt+0x6000 {
		t.Errorf("schedulers: %#x", list)
	}
}

// FuzzSearch changes words of such a process. Whatever they are, the search ends, within the bounds
// of SECURITY.md.
func FuzzSearch(f *testing.F) {
	f.Add([]byte{})
	image, _ := hiddenProcess()
	for at := 0; at < imageBytes; at += 8 {
		if v := binary.LittleEndian.Uint64(image[at:]); v != 0 {
			for _, to := range []uint64{0, ^uint64(0), imageAt, imageAt + 0x2000, v + 1, 1 << 40} {
				f.Add(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, uint16(at/8)), to))
			}
		}
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		image, _ := hiddenProcess()
		for n := 0; len(changes) >= 10 && n < 64; n, changes = n+1, changes[10:] {
			at := int(binary.LittleEndian.Uint16(changes)) * 8 % imageBytes
			copy(image[at:], changes[2:10])
		}
		bounds.Hold(t, len(image), func() {
			s, err := searched(image)
			if err != nil {
				return
			}
			s.readFragments(s.r)
			s.Schedulers(s.r)
			_ = s.findRangesIn(s.r, imageAt, imageAt+variableBytes)
			c := s.Code(s.r)
			for _, pc := range []uint64{0, imageAt + 0x7010, ^uint64(0)} {
				c.Function(pc)
				c.Fragment(pc)
			}
		})
	})
}
