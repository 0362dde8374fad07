package arm

import (
	"encoding/binary"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/ahead"
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/trad"
)

// calleeOK are the registers that a call preserves (AAPCS32, 6.1.1 and 6.1.2.1): r4 to r11, sp, s16
// to s31.
const calleeOK dataflow.Set = 0xff0 | 1<<rsp | 0xffff<<(s0+16)

// saved are the general registers that a function saves to use them.
const saved dataflow.Set = 0xff0 | 1<<rlr

// A32 and Thumb are what the analysis of prologue values must know of each instruction set. See
// decode.go for the numbers of their registers. Both have the frame pointer of A32 code: rows have
// one cell for it. Thumb's own frame pointer, r7, is found as any register that points into the
// frame.
var (
	A32   = machine(decodeA32, word, word)
	Thumb = machine(decodeThumb, 2, 2+4*4)
)

func machine(decode func(code []byte, at int, ops []dataflow.Op) (dataflow.Inst, []dataflow.Op), align, longest int32) *dataflow.Machine {
	return &dataflow.Machine{
		Decode:     decode,
		Word:       word,
		Align:      align,
		MaxLen:     longest,
		Regs:       nRegs,
		DWARF:      dwarf,
		SP:         rsp,
		FP:         r11,
		RA:         rlr,
		Preserved:  calleeOK,
		Floats:     0xffffffff << s0,
		Steady:     saved,
		SavedOnce:  saved,
		Unloaded:   1 << rlr,
		Lost:       trad.NotTracked, // it may be where nobody has looked
		Arguments:  dataflow.None,
		Probed:     dataflow.None,
		LinkCopy:   dataflow.None,
		SystemCall: r7,
		EndsThread: endsThread,
		InStub:     inStub,
		StackCheck: checksStack,
	}
}

// dwarf returns the DWARF number of a register.
func dwarf(r dataflow.Reg) trad.Reg {
	if r >= s0 {
		return S0 + trad.Reg(r-s0)
	}
	return trad.Reg(r)
}

// endsThread implements dataflow.Machine.EndsThread: svc #0, for exit or exit_group
// (asm/unistd-eabi.h).
func endsThread(code []byte, number int) bool {
	if number != 1 && number != 248 || len(code) < 2 {
		return false
	}
	return binary.LittleEndian.Uint16(code) == 0xdf00 || len(code) >= word && binary.LittleEndian.Uint32(code) == 0xef000000
}

// checksStack implements dataflow.Machine.StackCheck: functions of Go begin with ldr r1, [g, #8],
// then compare that with sp or with an address below it, and bls. Go makes A32 code.
func checksStack(code []byte, at int) bool {
	if at > 32 || at+word > len(code) || len(code) < word {
		return false
	}
	return binary.LittleEndian.Uint32(code) == 0xe59a1008 && binary.LittleEndian.Uint32(code[at:])>>24 == 0x9a
}

// set returns the instruction set of code at address start.
func set(code []byte, start uint64) *dataflow.Machine {
	if IsThumb(code, start) {
		return Thumb
	}
	return A32
}

// searches are the searches for ways out, of A32 and of Thumb code.
var searches = map[*dataflow.Machine]*ahead.Machine{A32: ahead.New(A32), Thumb: ahead.New(Thumb)}

func readFrame(code []byte, start, pc uint64) (row trad.Row, steps int, why string) {
	return set(code, start).ReadFrame(code, start, pc)
}

// Analyse analyses a function's code, which begins at address start, for the rows of all its
// instructions.
func Analyse(code []byte, start uint64) *dataflow.Analysis {
	return set(code, start).Analyse(code, nil, false)
}

func readReached(code []byte, start, pc uint64) (row trad.Row, steps int, why string) {
	return set(code, start).ReadReached(code, start, pc)
}

func readSplit(code *arch.SplitFunction, pc uint64) (row trad.Row, steps int, why string) {
	return set(code.Code, 0).ReadSplit(code, pc)
}

func readEpilogue(code []byte, pc uint64) (row trad.Row, out arch.WayOut) {
	return set(code, pc).ReadEpilogue(code, pc)
}

func inEpilogue(code []byte, start, pc uint64) bool {
	return set(code, start).InEpilogue(code, start, pc)
}

// around returns the instruction set of the code around pc: what is near counts, and code of either
// set may be farther away.
func around(code []byte, start, pc uint64) *dataflow.Machine {
	const near = 64 // bytes
	if pc < start || pc-start > uint64(len(code)) {
		return set(code, start)
	}
	at := pc - start
	if pc%word != 0 {
		return Thumb
	}
	lo := at - min(at, near)
	return set(code[lo:min(at+near, uint64(len(code)))], start+lo)
}

func readAhead(code []byte, start, pc uint64, away func(addr uint64) (code []byte, start uint64), yield func(row trad.Row, calls int) bool) (steps int) {
	return searches[around(code, start, pc)].ReadAhead(code, start, pc, away, yield)
}

func preserves(code []byte, start, entry, pc uint64) (kept []trad.Reg, steps int) {
	return searches[around(code, start, entry)].Preserves(code, start, entry, pc)
}

func exits(code []byte, at int) arch.Exits { return around(code, 0, uint64(at)).Exits(code, at) }

func references(code []byte, start uint64) []uint64 { return set(code, start).References(code, start) }

func skipPrologue(code []byte, start uint64) uint64 {
	return set(code, start).SkipPrologue(code, start)
}

func loadsSP(code []byte) bool { return set(code, 0).LoadsSP(code) }
