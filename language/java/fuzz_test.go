package java

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/target"
)

const imageAt = 0x10000

// image is memory from imageAt on.
type image []byte

func (m image) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < imageAt || addr-imageAt >= uint64(len(m)) {
		return 0, target.ErrUnmapped
	}
	if n := copy(p, m[addr-imageAt:]); n < len(p) {
		return n, target.ErrUnmapped
	}
	return len(p), nil
}

func at(offset uint64, size int) vmstructs.Field {
	return vmstructs.Field{Offset: offset, Size: size}
}

// small is a virtual machine whose structures are as small as they can be.
func small() *machine {
	l := &layout{
		constMethod: at(0, 8), access: at(8, 4),
		pool: at(0, 8), words: at(8, 4), codeSize: at(12, 2), name: at(14, 2), flags: at(16, 4), constMethodBytes: 24, hasLines: 1,
		holder: at(0, 8), poolLength: at(8, 4), source: at(12, 2), poolBytes: 16,
		className: at(0, 8), symbolLength: at(0, 2), symbolBody: at(2, 1),
		anonymous: anonymousLayout{flags: at(12, 2), flag: 1, hashes: true, mirror: at(0, 8), header: at(0, 8), shift: 8, mask: 1<<31 - 1},
	}
	l.compiled = compiledLayout{
		method: at(0, 8), pcs: at(8, 4), pcsEnd: at(12, 4), scopes: at(16, 4), metadata: at(20, 4),
		pcDesc: 8, pcOffset: at(0, 4), pcScope: at(4, 4), least: 1,
	}
	l.slots = slotsOf(amd64.Arch, 17)
	return &machine{layout: l}
}

// An image of a compiled method handle, in which check is inlined, both of a.Server.
const (
	nmethodAt = 0x40
	handleAt  = 0x100
	checkAt   = 0x180
	poolAt    = 0x200
	holderAt  = 0x280
	codeStart = 0x300
	codeAt    = imageAt + codeStart
)

func compiled() image {
	m := make(image, 0x340)
	order := binary.LittleEndian
	put := func(at int, v uint64) { order.PutUint64(m[at:], v) }
	put4 := func(at int, v uint32) { order.PutUint32(m[at:], v) }
	symbol := func(at int, s string) uint64 {
		order.PutUint16(m[at:], uint16(len(s)))
		copy(m[at+2:], s)
		return imageAt + uint64(at)
	}
	// nop; a jump to the second place; int3; before the first place a return; then nop up to the
	// second one; at offset 48 a jump to the first one.
	copy(m[codeStart:], "\x90\xeb\x1d\xcc\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xc3"+strings.Repeat("\x90", 32)+"\xeb\xde\xcc")
	put(nmethodAt, imageAt+handleAt)
	put4(nmethodAt+8, 0x20)  // two places
	put4(nmethodAt+12, 0x30) // up to here
	put4(nmethodAt+16, 0x30) // the scopes
	put4(nmethodAt+20, 0x40) // methods
	put4(nmethodAt+0x20, 16)
	put4(nmethodAt+0x24, 1)
	put4(nmethodAt+0x28, 32)
	put4(nmethodAt+0x2c, 7)
	copy(m[nmethodAt+0x31:], []byte{1, 2, 1 + 1 + 4, 1, 1, 1})     // handle, at bytecode 4
	copy(m[nmethodAt+0x37:], []byte{1 + 1, 3, 1 + 1 + 2, 1, 1, 1}) // check, at bytecode 2
	put(nmethodAt+0x40, imageAt+handleAt)
	put(nmethodAt+0x48, imageAt+checkAt)
	for i, base := range []int{handleAt, checkAt} {
		put(base, imageAt+uint64(base)+16)
		put(base+16, imageAt+poolAt)
		put4(base+24, 5)
		order.PutUint16(m[base+28:], 6)
		order.PutUint16(m[base+30:], uint16(1+i))
		put4(base+32, 1)
		copy(m[base+46:], []byte{3<<3 | 5, 0}) // line 5 from bytecode 3 on
	}
	put(poolAt, imageAt+holderAt)
	put4(poolAt+8, 4)
	order.PutUint16(m[poolAt+12:], 3)
	put(poolAt+24, symbol(0x2c0, "handle"))
	put(poolAt+32, symbol(0x2d0, "check"))
	put(poolAt+40, symbol(0x2e0, "Server.java"))
	put(holderAt, symbol(0x290, "a/Server"))
	return m
}

func (m image) frames(pc uint64, exact bool) (list []string) {
	vm := small()
	r := vmstructs.NewReader(m, binary.LittleEndian)
	b := &vmstructs.Blob{At: imageAt + nmethodAt, Lo: codeAt, Hi: codeAt + 64}
	vm.method(r, imageAt+handleAt)
	at, exactly, ok := vm.notedAt(r, amd64.Arch, b, pc)
	if !ok || exact && !exactly {
		return nil
	}
	_, scopes := vm.scopes(r, b, at.scope)
	for _, s := range scopes {
		list = append(list, written(s.method.function, s.method.file, vm.line(s.method, s.bci)))
	}
	return list
}

func written(function, file string, line int) string {
	return function + " " + file + ":" + string(rune('0'+line%10))
}

// The image that the fuzz test begins with is a good one.
func TestMade(t *testing.T) {
	m := compiled()
	for _, c := range []struct {
		pc    uint64
		exact bool
		want  int
	}{
		{codeAt + 16, true, 1}, {codeAt + 32, true, 2}, {codeAt + 20, true, 0},
		{codeAt, false, 2},      // by the jump
		{codeAt + 3, false, 1},  // nothing leads on, and there is none before
		{codeAt + 20, false, 2}, // straight on
		{codeAt + 33, false, 1}, // straight on to the jump back
		{codeAt + 50, false, 2}, // nothing leads on: the one before
		{codeAt + 65, false, 0}, // outside
	} {
		if list := m.frames(c.pc, c.exact); len(list) != c.want || c.want > 0 && list[c.want-1] != "a.Server.handle Server.java:5" || c.want > 1 && list[0] != "a.Server.check Server.java:0" {
			t.Errorf("%#x, exact: %t: %q, want %d frames", c.pc, c.exact, list, c.want)
		}
	}
}

// FuzzMethods reads the methods of a malicious virtual machine.
func FuzzMethods(f *testing.F) {
	f.Add([]byte(compiled()), uint16(32), false)
	f.Add([]byte(compiled()), uint16(16), true)
	f.Fuzz(func(t *testing.T, data []byte, pc uint16, exact bool) {
		bounds.Hold(t, 1<<20+64*len(data), func() { image(data).frames(codeAt+uint64(pc), exact) })
	})
}

// FuzzMonitors reads the monitors of the frames of a malicious virtual machine. The compiler's
// notes are at the memory's beginning, and the interpreter's frame pointer is given.
func FuzzMonitors(f *testing.F) {
	frame := make([]byte, 128)
	binary.LittleEndian.PutUint64(frame[40:], imageAt+16) // two monitors below the slot
	binary.LittleEndian.PutUint64(frame[24:], imageAt+64)
	f.Add(append(encoded(2, 0, uint32(valueReference), 0, 0, 0, uint32(valueObject)), frame...), uint16(12+112), false)
	f.Add(frame, uint16(112), false)
	f.Add(frame, uint16(104), true)
	f.Fuzz(func(t *testing.T, data []byte, fp uint16, is8 bool) {
		bounds.Hold(t, 1<<20+64*len(data), func() {
			vm := small()
			vm.slots, vm.compiled.least = slotsOf(amd64.Arch, 17), 1
			if is8 {
				vm.slots = slotsOf(amd64.Arch, 8)
			}
			vm.tables = &vmstructs.Tables{
				Fields: map[string]vmstructs.Field{"BasicObjectLock::_obj": at(8, 8)},
				Types:  map[string]vmstructs.Type{"BasicObjectLock": {Size: 16}},
			}
			r := &reading{Reader: vmstructs.NewReader(image(data), binary.LittleEndian), heap: &heap{tables: vm.tables}}
			of := &contents{reading: r, monitors: entered{}}
			vm.interpretedMonitors(of, imageAt+uint64(fp))
			p := &compiledPlace{vm: vm, r: r, arch: amd64.Arch, blob: &vmstructs.Blob{At: imageAt}, sp: imageAt}
			p.least = 1
			p.monitors(of, imageAt-1, 1, 1)
			if of.monitors.level(0) >= 0 || len(of.monitors) > 2*mostEntered {
				t.Errorf("%d monitors", len(of.monitors))
			}
		})
	})
}
