package arm64

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// header makes struct user_sve_header, of a set of 544 bytes.
func header(vl, flags uint16) []byte {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint32(b, 16+528)
	binary.LittleEndian.PutUint32(b[4:], 4096)
	binary.LittleEndian.PutUint16(b[8:], vl)
	binary.LittleEndian.PutUint16(b[10:], 64)
	binary.LittleEndian.PutUint16(b[12:], flags)
	return b
}

// TestVectorLength: Linux, Documentation/arch/arm64/sve.rst, section 3 and appendix
// A, and sme.rst: NT_ARM_SSVE's flag says that streaming mode is on.
func TestVectorLength(t *testing.T) {
	for _, tt := range []struct {
		name           string
		sve, streaming []byte
		want           uint64
	}{
		{"no such vectors", nil, nil, 0},
		{"not used yet", header(32, 0), nil, 4},
		{"in use", header(16, 1), nil, 2},
		{"streaming mode off", header(32, 1), header(64, 0), 4},
		{"streaming mode on", header(32, 0), header(64, 1), 8},
		{"streaming mode alone", nil, header(256, 1), 32},
		{"too long", header(8192+16, 1), nil, 0},
		{"no whole quadword", header(24, 1), nil, 0},
		{"none", header(0, 1), header(0, 1), 0},
		{"cut short", header(32, 1)[:15], nil, 0},
	} {
		var regs arch.Registers
		for i, set := range [][]byte{tt.sve, tt.streaming} {
			k := Arch.KernelRegs[2+i]
			if k.Owner() != "LINUX" || k.Note != [...]uint32{0x405, 0x40b}[i] {
				t.Errorf("note %#x of %s", k.Note, k.Owner())
			}
			k.Get(Arch, set, &regs)
		}
		if v, ok := regs.Get(VG); v != tt.want || ok != (tt.want != 0) || regs.Known.Len() > 1 {
			t.Errorf("%s: VG %d, %v, want %d", tt.name, v, ok, tt.want)
		}
	}
}

// What is written is what is read, with d8 to d15 for debuggers that look here alone.
func TestWriteVectorLength(t *testing.T) {
	k := &Arch.KernelRegs[2]
	var regs, got, floats arch.Registers
	for r := D8; r <= D15; r++ {
		regs.Set(r, uint64(r)<<40)
	}
	set := make([]byte, k.Size)
	if k.Put(Arch, &regs, set) {
		t.Error("a set without a length")
	}
	regs.Set(VG, 8)
	if !k.Put(Arch, &regs, set) {
		t.Fatal("nothing written")
	}
	k.Get(Arch, set, &got)
	if v, _ := got.Get(VG); v != 8 || int(binary.LittleEndian.Uint32(set)) != len(set) {
		t.Errorf("VG %d, %d bytes", v, binary.LittleEndian.Uint32(set))
	}
	if Arch.KernelRegs[1].Get(Arch, set[16:], &floats); floats.Value[D15] != uint64(D15)<<40 {
		t.Error("d15 is not there")
	}
	if Arch.KernelRegs[3].Put(Arch, &regs, set) {
		t.Error("a set of streaming mode")
	}
}

// memory is a signal frame at 0x1000 and what it points to.
type memory map[uint64]uint64

var errUnmapped = errors.New("unmapped")

func (m memory) Word(addr uint64) (uint64, error) {
	if v, ok := m[addr]; ok {
		return v, nil
	}
	return 0, errUnmapped
}

func (m memory) Register(r trad.Reg) (uint64, bool) {
	if r == SP {
		return 0x1000, true
	}
	v, ok := m[uint64(r)] // registers stand where no memory is
	return v, ok
}

// TestInterruptedVG: records as asm/sigcontext.h has them.
func TestInterruptedVG(t *testing.T) {
	const at = 0x1000 + 128 + 176 + 288
	record := func(magic, size uint64) uint64 { return magic | size<<32 }
	fpsimd := record(0x46508001, 528)
	for _, tt := range []struct {
		name string
		m    memory
		want uint64
		fail bool
	}{
		{"in the second record", memory{uint64(VG): 4, at: fpsimd, at + 528: record(0x53564501, 16), at + 536: 64 | 1<<16}, 8, false},
		{"beyond the frame", memory{uint64(VG): 4, at: fpsimd, at + 528: record(0x45585401, 32), at + 536: 0x9000, at + 544: 4096, at + 560: 0,
			0x9000: record(0x53564501, 4096), 0x9008: 256}, 32, false},
		{"no record", memory{uint64(VG): 4, at: fpsimd, at + 528: 0}, 4, false},
		{"no record, no register", memory{at: fpsimd, at + 528: 0}, 0, true},
		{"broken size", memory{uint64(VG): 4, at: record(0x46508001, 7)}, 4, false},
		{"broken length", memory{uint64(VG): 4, at: record(0x53564501, 16), at + 8: 3, at + 16: 0}, 4, false},
		{"leads back to itself", memory{uint64(VG): 4, at: record(0x45585401, 32), at + 8: at, at + 32: 0}, 4, false},
		{"cut off", memory{uint64(VG): 4, at: fpsimd}, 0, true},
	} {
		got, err := interruptedVG{}.Eval(tt.m, 0, false)
		if got != tt.want || (err != nil) != tt.fail {
			t.Errorf("%s: %d, %v; want %d", tt.name, got, err, tt.want)
		}
	}
}
