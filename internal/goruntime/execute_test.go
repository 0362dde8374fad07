package goruntime

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/trad"
)

// Until Go 1.22 the assembler for arm64 loads an offset that is too large for an instruction from
// behind the function. asyncPreempt of Go 1.21 begins so (go tool objdump). By readelf, its
// .debug_frame has, from the fourth instruction on: CFA = sp+496, x30 at cfa-496.
func TestLiteralOffset(t *testing.T) {
	const nop, literal = 0xd503201f, 308
	code := make([]byte, 320)
	for at := 0; at < len(code); at += 4 {
		binary.LittleEndian.PutUint32(code[at:], nop)
	}
	for i, x := range []uint32{
		0x580009bb, // MOVD 77(PC), R27
		0xf83b6bfe, // MOVD R30, (RSP)(R27)
		0xd107c3ff, // SUB $496, RSP, RSP
		0xf81f83fd, // MOVD R29, -8(RSP)
		0xd10023fd, // SUB $8, RSP, R29
	} {
		binary.LittleEndian.PutUint32(code[4*i:], x)
	}
	binary.LittleEndian.PutUint64(code[literal:], 0xfffffffffffffe10)
	const lo = 0x6f260
	flow := follow(MachineOf(arm64.Arch), code, lo, func(uint64) string { return "" }, func(uint64) (int32, bool) { return 0, false })
	for at := uint64(lo + 12); at < lo+40; at += 4 {
		a := solve(MachineOf(arm64.Arch), flow.at[at], false)
		cfa := trad.Rule{Kind: trad.InReg, Reg: arm64.SP, Off: 496}
		ra := trad.Rule{Kind: trad.Saved, Off: -496}
		fp := trad.Rule{Kind: trad.Same}
		if at > lo+16 { // from here on, R27 has another value
			fp = trad.Rule{Kind: trad.Saved, Off: -504}
		}
		if a.Row.CFA != cfa || a.Row.RA != ra || a.Row.FP != fp {
			t.Errorf("%#x: CFA %+v, RA %+v, FP %+v; want %+v, %+v, %+v", at, a.Row.CFA, a.Row.RA, a.Row.FP, cfa, ra, fp)
		}
	}
}

// A store of four bytes makes the word that it hits unknown. internal/chacha8rand.block of Go 1.26
// for arm64, a leaf, puts a number where it has saved the link register (go tool objdump).
func TestNarrowStore(t *testing.T) {
	var code []byte
	for _, x := range []uint32{
		0xf81e0ffe, // MOVD.W R30, -32(RSP)
		0xf81f83fd, // MOVD R29, -8(RSP)
		0xd10023fd, // SUB $8, RSP, R29
		0xb90003e2, // MOVW R2, (RSP)
		0x4d40cbec, // VLD1R (RSP), [V12.S4]
	} {
		code = binary.LittleEndian.AppendUint32(code, x)
	}
	const lo = 0x410bf0
	flow := follow(MachineOf(arm64.Arch), code, lo, func(uint64) string { return "" }, func(uint64) (int32, bool) { return 0, false })
	for at, want := range map[uint64]trad.Rule{12: {Kind: trad.Saved, Off: -32}, 16: {Kind: trad.Same}} {
		if a := solve(MachineOf(arm64.Arch), flow.at[lo+at], false); a.Row.RA != want || a.Row.CFA.Off != 32 {
			t.Errorf("%#x: CFA %+v, RA %+v, want %+v", lo+at, a.Row.CFA, a.Row.RA, want)
		}
	}
}
