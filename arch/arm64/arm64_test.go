package arm64

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// AAPCS64: 6.1.1 (general registers), 6.1.2 (SIMD and floating point), 6.4.5
// (the stack pointer), 6.4.6 (the frame record). DWARF for the Arm 64-bit
// Architecture: 4.1 (numbers).
func TestABI(t *testing.T) {
	a := Arch
	for name, num := range map[string]trad.Reg{"x0": 0, "x18": 18, "x29": 29, "x30": 30, "sp": 31, "pc": 32, "tpidr": 36, "vg": 46, "d8": 72, "d15": 79} {
		if got := a.RegName(num); got != name {
			t.Errorf("register %d is %s, want %s", num, got, name)
		}
		if i := a.Index(num); i < 0 || a.Regs[i].Name != name {
			t.Errorf("index of %s is %d", name, i)
		}
	}
	if len(a.Regs) != 43 || a.RegName(64) != "r64" || a.Index(64) != -1 {
		t.Errorf("%d registers", len(a.Regs))
	}
	for r := trad.Reg(0); r < arch.MaxReg; r++ {
		want := r >= 19 && r <= 29 || r == 31 || r == 36 || r == 46 || r >= 72 && r <= 79
		if a.CalleeSaved.Has(r) != want {
			t.Errorf("%s is callee-saved: %v", a.RegName(r), !want)
		}
	}
	if a.PC != 32 || a.SP != 31 || a.FP != 29 || a.RA != 30 || a.RedZone != 0 || a.FrameAlign(0x1fff) != 0x1ff0 || a.SPFromCFA != 0 || a.RAOffset != 0 || a.FrameRecord != 16 || !a.FrameRecordAnywhere {
		t.Error("stack rules")
	}
	if a.CodeAddress(0x002a_ffff_8000_1234) != 0xffff_8000_1234 || a.WithPACMask(0x7f_ff80_0000_0000).CodeAddress(0x002a_ffff_8000_1234) != 0x7f_8000_1234 {
		t.Error("authentication codes")
	}
	if a.WithPACMask(0) != a {
		t.Error("no mask makes another descriptor")
	}
}

func TestLookUp(t *testing.T) {
	if arch.ByName("arm64") != Arch || arch.ByMachine(elf.EM_AARCH64, binary.LittleEndian) != Arch || arch.BySFrameABI(2) != Arch {
		t.Error("the descriptor is not found")
	}
	if arch.ByMachine(elf.EM_AARCH64, binary.BigEndian) != nil || arch.BySFrameABI(1) != nil {
		t.Error("the descriptor is found for big-endian programs")
	}
}

// TestKernelRegs: values from a set as it is in memory, on a host of any byte
// order, and as much as there is of one that is cut off.
func TestKernelRegs(t *testing.T) {
	set := make([]byte, 528)
	for i := range set {
		set[i] = byte(i)
	}
	var regs arch.Registers
	Arch.KernelRegs[0].Get(Arch, set[:272], &regs)
	for r, want := range map[trad.Reg]uint64{X0: 0x0706050403020100, X29: 0xefeeedecebeae9e8, SP: 0xfffefdfcfbfaf9f8, PC: 0x0706050403020100} {
		if v, ok := regs.Get(r); v != want || !ok {
			t.Errorf("%s is %#x, want %#x", Arch.RegName(r), v, want)
		}
	}
	regs = arch.Registers{}
	Arch.KernelRegs[1].Get(Arch, set[:16*9+8], &regs)
	if v, ok := regs.Get(D8 + 1); v != 0x9796959493929190 || !ok || regs.Known.Len() != 2 {
		t.Errorf("d9 is %#x, %d registers known", v, regs.Known.Len())
	}
}

// insns makes code of instructions.
func insns(words ...uint32) []byte {
	var code []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return code
}

const (
	paciasp  = 0xd503233f
	autiasp  = 0xd50323bf
	retaa    = 0xd65f0bff
	ret      = 0xd65f03c0
	nop      = 0xd503201f
	stpFP    = 0xa9be7bfd // stp x29, x30, [sp, #-32]!
	movFP    = 0x910003fd // mov x29, sp
	strX19   = 0xf9000bf3 // str x19, [sp, #16]
	ldrX19   = 0xf9400bf3 // ldr x19, [sp, #16]
	ldpFP    = 0xa8c27bfd // ldp x29, x30, [sp], #32
	movX19X0 = 0xaa0003f3 // mov x19, x0
	blNext   = 0x94000001 // bl to the next instruction
	bFar     = 0x14100000 // b 4 MiB on
	subSP    = 0xd10083ff // sub sp, sp, #32
	addSP    = 0x910083ff // add sp, sp, #32
)

// What each instruction of common shapes leaves: the ABI's own words.
func TestReadFrameCases(t *testing.T) {
	const start = 0x1000
	for _, tt := range []struct {
		name string
		code []byte
		want []string // the row at each instruction
	}{
		{"signed", insns(paciasp, stpFP, movFP, strX19, movX19X0, blNext, ldrX19, ldpFP, autiasp, ret), []string{
			"CFA=sp RA=same FP=same in-prologue",
			"CFA=sp RA=same FP=same mangled-ra in-prologue",
			"CFA=sp+32 RA=[CFA-24] FP=[CFA-32] mangled-ra in-prologue",
			"CFA=x29+32 RA=[CFA-24] FP=[CFA-32] mangled-ra in-prologue",
			"CFA=x29+32 RA=[CFA-24] FP=[CFA-32] x19=[CFA-16] mangled-ra",
			"CFA=x29+32 RA=[CFA-24] FP=[CFA-32] x19=[CFA-16] mangled-ra",
			"CFA=x29+32 RA=[CFA-24] FP=[CFA-32] x19=[CFA-16] mangled-ra",
			"CFA=x29+32 RA=[CFA-24] FP=[CFA-32] x19=[CFA-16] mangled-ra in-prologue", // where it still is
			"CFA=sp RA=same FP=same mangled-ra in-prologue",
			"CFA=sp RA=same FP=same in-prologue",
		}},
		{"leaf", insns(subSP, nop, addSP, ret), []string{
			"CFA=sp RA=same FP=same in-prologue", "CFA=sp+32 RA=same FP=same", "CFA=sp+32 RA=same FP=same", "CFA=sp RA=same FP=same in-prologue",
		}},
		{"tail call", insns(stpFP, blNext, ldpFP, bFar), []string{
			"CFA=sp RA=same FP=same in-prologue", "CFA=sp+32 RA=[CFA-24] FP=[CFA-32]", "CFA=sp+32 RA=[CFA-24] FP=[CFA-32]", "CFA=sp RA=same FP=same",
		}},
		{"retaa", insns(paciasp, stpFP, blNext, ldpFP, retaa), []string{
			"CFA=sp RA=same FP=same in-prologue", "CFA=sp RA=same FP=same mangled-ra in-prologue",
			"CFA=sp+32 RA=[CFA-24] FP=[CFA-32] mangled-ra", "CFA=sp+32 RA=[CFA-24] FP=[CFA-32] mangled-ra",
			"CFA=sp RA=same FP=same mangled-ra in-prologue",
		}},
		// gcc 14 -O2 of a function with 4 KiB on the stack that calls one of the same file, of
		// which it knows that it leaves x12 alone. Its own table has CFA=sp+4112 until the last.
		{"size kept across a call", insns(0xd282020c, 0xcb2c63ff, 0x910043e3, 0xaa0003e4, 0xaa0303e0, 0xa9007bfd, 0x910003fd, blNext,
			0xd282020c, 0x8b040060, blNext, 0xa9407bfd, 0x38646860, 0x8b2c63ff, ret), []string{
			"CFA=sp RA=same FP=same in-prologue",      // mov x12, #0x1010
			"CFA=sp RA=same FP=same in-prologue",      // sub sp, sp, x12
			"CFA=sp+4112 RA=same FP=same in-prologue", // add x3, sp, #16
			"CFA=sp+4112 RA=same FP=same in-prologue", // mov x4, x0
			"CFA=sp+4112 RA=same FP=same in-prologue", // mov x0, x3
			"CFA=sp+4112 RA=same FP=same in-prologue", // stp x29, x30, [sp]
			"CFA=sp+4112 RA=[CFA-4104] FP=[CFA-4112] in-prologue",
			"CFA=x29+4112 RA=[CFA-4104] FP=[CFA-4112]",
			"CFA=x29+4112 RA=[CFA-4104] FP=[CFA-4112]", // mov x12, #0x1010
			"CFA=x29+4112 RA=[CFA-4104] FP=[CFA-4112]",
			"CFA=x29+4112 RA=[CFA-4104] FP=[CFA-4112]", // bl
			"CFA=x29+4112 RA=[CFA-4104] FP=[CFA-4112]", // ldp x29, x30, [sp]
			"CFA=sp+4112 RA=[CFA-4104] FP=[CFA-4112]",
			"CFA=sp+4112 RA=[CFA-4104] FP=[CFA-4112]", // add sp, sp, x12
			"CFA=sp RA=same FP=same",
		}},
	} {
		for i, want := range tt.want {
			row, _, why := Machine.ReadFrame(tt.code, start, start+uint64(size*i))
			if got := row.Format(Arch.RegName); got != want || why != "" {
				t.Errorf("%s, instruction %d: %s (%s), want %s", tt.name, i, got, why, want)
			}
		}
	}
	for _, tt := range []struct {
		code []byte
		off  uint64
		want string
	}{
		{insns(ret), 4, "the pc is outside the code"},
		{insns(ret, nop, 0), 8, ""}, // a guess, too: something has come there
		{insns(bFar, ret), 4, ""},   // a guess
	} {
		row, _, why := Machine.ReadFrame(tt.code, start, start+tt.off)
		if why != tt.want || why == "" && row.Flags&trad.Guess == 0 {
			t.Errorf("%x: %s, %q, want %q", tt.code, row.Format(Arch.RegName), why, tt.want)
		}
	}
}

// A Go function begins with the check of the stack's limit.
func TestSkipGoPrologue(t *testing.T) {
	code := insns(0xf9400b90, 0xeb3063ff, 0x54000109, 0xf81e0ffe, nop) // ldr x16, [x28,#16]; cmp sp, x16; b.ls; str x30, [sp,#-32]!
	if end := Machine.SkipPrologue(code, 0x1000); end != 0x1010 {
		t.Errorf("the prologue ends at %#x", end)
	}
}
