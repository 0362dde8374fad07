package bash

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

const base = 0x10000

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// small returns memory with a shell that has one variable in each bucket: three arrays of two
// elements, and a job of one process. See the constants of layout.go.
func small(head uint64) []byte {
	b := make([]byte, 0x1000)
	word := func(at, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }
	half := func(at, v uint64) { binary.LittleEndian.PutUint32(b[at:], uint32(v)) }
	const buckets = 4
	word(0x00, base+0x100) // global_variables
	half(0x08, 7)          // line_number
	word(0x10, base+0xe00) // jobs
	half(0x18+statsSlots, 1)
	half(0x50, 3) // running_trap
	word(0x60+16, base+0xf80)
	word(0x100+contextTable, base+0x140)
	word(0x140+tableBuckets, base+0x160)
	half(0x140+tableSize, buckets)
	texts := [][3]string{{"FUNCNAME", "deep", "main"}, {"BASH_SOURCE", "a.sh", "a.sh"}, {"BASH_LINENO", "9", "0"}}
	for i, t := range texts {
		at := 0x200 + 0x300*uint64(i) // a bucket, a variable, an array, its elements, texts
		for j, s := range t {
			copy(b[at+0x200+0x20*uint64(j):], s)
		}
		slot := 0x160 + 8*uint64(hash(t[0])%buckets)
		word(at+bucketNext, binary.LittleEndian.Uint64(b[slot:]))
		word(slot, base+at)
		word(at+bucketKey, base+at+0x200)
		word(at+bucketData, base+at+0x40)
		word(at+0x40+variableValue, base+at+0x80)
		half(at+0x40+variableAttributes, attributeArray)
		word(at+0x80+head, base+at+0xc0)
		elements := []uint64{at + 0xc0, at + 0x100, at + 0x140}
		for j, e := range elements {
			word(e+elementIndex, uint64(j)-1)
			word(e+elementValue, base+at+0x200+0x20*uint64(j))
			word(e+elementNext, base+elements[(j+1)%3])
			word(e+elementPrevious, base+elements[(j+2)%3])
		}
	}
	word(0xe00, base+0xe20)
	word(0xe20+jobProcesses, base+0xe80)
	word(0xe80+processNext, base+0xe80)
	half(0xe80+processID, 42)
	half(0xe80+processRunning, running)
	word(0xe80+processCommand, base+0xf90)
	copy(b[0xf80:], "SIGINT\x00")
	copy(b[0xf90:], "sleep 9\x00")
	return b
}

// read reads all of a shell.
func read(head uint64, b []byte) (frames []language.Frame, trap, command string, err error) {
	m := structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare)
	defer m.Free()
	r := &runtime{head: head, globals: base, line: base + 8, jobs: base + 0x10, jobStats: base + 0x18, runningTrap: base + 0x50, signalNames: base + 0x60}
	trap = r.trap(m)
	command, _ = r.process(m, 42)
	m.Err()
	calls, err := r.calls(m)
	return framesOf(calls, int(m.Int(r.line, 4))), trap, command, err
}

var heads = []uint64{16, 24, 32}

// TestSmall has a shell of each release read.
func TestSmall(t *testing.T) {
	for _, head := range heads {
		frames, trap, command, err := read(head, small(head))
		if err != nil || len(frames) != 2 || frames[0].Line != 9 || frames[1].Function != "deep" || frames[1].Line != 7 || frames[1].File != "a.sh" {
			t.Errorf("%d: %+v, %v", head, frames, err)
		}
		if trap != "SIGINT" || command != "sleep 9" {
			t.Errorf("%q, %q", trap, command)
		}
	}
	b := small(16)
	binary.LittleEndian.PutUint64(b[0x200+0x140+elementPrevious:], base+0x200+0x140) // goes round
	if frames, _, _, err := read(16, b); err == nil {
		t.Errorf("an array that goes round has %d elements", len(frames))
	}
}

// FuzzShell reads a shell that lies about everything.
func FuzzShell(f *testing.F) {
	for _, head := range heads {
		f.Add(uint8(head), small(head))
	}
	f.Fuzz(func(t *testing.T, head uint8, b []byte) {
		bounds.Hold(t, 64<<20, func() { read(heads[int(head)%len(heads)], b) })
	})
}
