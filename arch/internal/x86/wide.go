package x86

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/trad"
)

// NT_X86_XSTATE is XSAVE's area in its standard form: st0 is at 32, xmm0 at 160, and the upper half
// of ymm0 at 576. AVX-512's registers are in components of their own. That a component is in use,
// XSTATE_BV says, at 512 (Intel SDM, volume 1, 13.4).
const (
	x87At    = 32
	xmmAt    = 160
	ymmAt    = 576
	usedAt   = 512
	stateAVX = 2
)

// state is a part of a register in NT_X86_XSTATE, in use if its component is.
func state(component, off, size int) arch.WidePart {
	p := arch.WidePart{Note: control.NTXState, Off: off, Size: size, State: component, InUse: usedAt, Bits: 1 << component}
	if component == stateAVX { // it is at the same place on all processors
		p.State = 0
	}
	return p
}

func vector(first trad.Reg, n, i int) arch.WideReg {
	s := strconv.Itoa(n)
	return arch.WideReg{
		Num: first + trad.Reg(i), Name: "zmm" + s,
		Narrower: []arch.NarrowReg{{Name: "xmm" + s, Size: 16}, {Name: "ymm" + s, Size: 32}},
	}
}

// Vector returns the i-th of the vector registers that SSE has, too. first is DWARF's number of
// xmm0, note the set that has it at 160.
func Vector(first trad.Reg, i int, note uint32) arch.WideReg {
	w := vector(first, i, i)
	w.Parts = []arch.WidePart{
		{Note: note, Off: xmmAt + 16*i, Size: 16}, state(stateAVX, ymmAt+16*i, 16), state(control.StateUpper, 32*i, 32),
	}
	w.Also = []arch.WidePart{{Note: control.NTXState, Off: xmmAt + 16*i, Size: 16}}
	return w
}

// Vector16 returns the i-th of the vector registers that AVX-512 adds. first is DWARF's number of
// xmm16.
func Vector16(first trad.Reg, i int) arch.WideReg {
	w := vector(first, 16+i, i)
	w.Parts = []arch.WidePart{state(control.State16, 64*i, 64)}
	return w
}

// X87 returns the i-th register of the x87. first is DWARF's number of st0; part is where a set of
// the x87's has it.
func X87(first trad.Reg, i int, part arch.WidePart) arch.WideReg {
	return arch.WideReg{Num: first + trad.Reg(i), Name: "st" + strconv.Itoa(i), Parts: []arch.WidePart{part},
		Also: []arch.WidePart{{Note: control.NTXState, Off: x87At + 16*i, Size: part.Size}}}
}

// Mask returns the i-th mask of AVX-512. first is DWARF's number of k0.
func Mask(first trad.Reg, i int) arch.WideReg {
	return arch.WideReg{
		Num: first + trad.Reg(i), Name: "k" + strconv.Itoa(i),
		Parts: []arch.WidePart{state(control.StateMasks, 8*i, 8)},
	}
}

// Parts returns arch.GDB.Parts of the vector registers, as gdb's features/i386/*-sse.xml,
// *-avx.xml and *-avx512.xml have them.
func Parts(regs []arch.WideReg) map[string][]string {
	m := map[string][]string{}
	for i := range regs {
		if w := &regs[i]; len(w.Narrower) > 0 {
			m[w.Name] = []string{w.Narrower[0].Name, w.Narrower[1].Name + "h", w.Name + "h"}
		}
	}
	return m
}

// VectorElements are arch.GDB.VectorElements.
var VectorElements = []arch.VectorElement{
	{Name: "bfloat16", Size: 2, Float: true}, {Name: "half", Size: 2, Float: true}, {Name: "float", Size: 4, Float: true},
	{Name: "double", Size: 8, Float: true}, {Name: "int8", Size: 1}, {Name: "int16", Size: 2}, {Name: "int32", Size: 4},
	{Name: "int64", Size: 8}, {Name: "int128", Size: 16},
}

// Misplaced implements arch.GDB.Misplaced: gdbserver takes all processors for Intel's, until it
// asks them.
func Misplaced(cpuinfo []byte) func(name string) bool {
	if bytes.Contains(cpuinfo, []byte(": GenuineIntel\n")) {
		return nil
	}
	return ofAVX512
}

// ofAVX512 reports whether a stub's register has what AVX-512 adds.
func ofAVX512(name string) bool {
	kind := strings.TrimRight(name, "0123456789h")
	n, _ := strconv.Atoi(strings.Trim(name, "xyzmkh"))
	return kind == "k" || kind == "zmm" || (kind == "xmm" || kind == "ymm") && n >= 16
}
