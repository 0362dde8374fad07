package arm64

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/trad"
)

// The registers of the scalable vectors are of no matter to a walk but for their
// length: functions that keep such vectors on the stack have their CFA at a distance
// that is a multiple of it. DWARF has it as register VG, in units of 64 bits.

// granule is that unit, bytes.
const granule = 8

// maxVL is the longest vector that Linux's interfaces are made for, bytes
// (SVE_VQ_MAX).
const maxVL = 512 * 16

// struct user_sve_header (asm/ptrace.h): size and max_size of the set, 4 bytes each,
// then vl, max_vl and flags, 2 bytes each. What follows it depends on flags.
const (
	sveSize       = 0
	sveMaxSize    = 4
	sveVL         = 8
	sveMaxVL      = 10
	sveFlags      = 12
	sveHeader     = 16
	sveFlagActive = 1 // SVE_PT_REGS_SVE: the set has the scalable registers themselves
)

// scalable is NT_ARM_SVE. Without its flag, what follows the header is the same as
// NT_PRFPREG's, which debuggers take from here where there is both: Write gives it.
var scalable = arch.KernelRegs{
	Note: control.NTSVE, Size: sveHeader + fpRegsSize,
	Read: func(a *arch.Arch, data []byte, to *arch.Registers) {
		if vl, ok := vectorLength(a, data); ok {
			to.Set(VG, vl/granule)
		}
	},
	Write: func(a *arch.Arch, from *arch.Registers, data []byte) bool {
		vg, ok := from.Get(VG)
		if !ok || vg == 0 || vg > maxVL/granule {
			return false
		}
		a.Order.PutUint32(data[sveSize:], uint32(len(data)))
		a.Order.PutUint32(data[sveMaxSize:], uint32(len(data)))
		a.Order.PutUint16(data[sveVL:], uint16(vg*granule))
		a.Order.PutUint16(data[sveMaxVL:], uint16(vg*granule))
		vectors.Put(a, from, data[sveHeader:])
		return true
	},
}

// streaming is NT_ARM_SSVE, the vectors of streaming mode. While the thread is in that mode, its
// flag is set, and its vectors count instead of NT_ARM_SVE's.
var streaming = arch.KernelRegs{
	Note: 0x40b, Size: sveHeader,
	Read: func(a *arch.Arch, data []byte, to *arch.Registers) {
		if vl, ok := vectorLength(a, data); ok && a.Order.Uint16(data[sveFlags:])&sveFlagActive != 0 {
			to.Set(VG, vl/granule)
		}
	},
}

func vectorLength(a *arch.Arch, set []byte) (vl uint64, ok bool) {
	if len(set) < sveHeader {
		return 0, false
	}
	vl = uint64(a.Order.Uint16(set[sveVL:]))
	return vl, validLength(vl)
}

// validLength reports whether vectors can be so long: whole quadwords.
func validLength(vl uint64) bool { return vl > 0 && vl <= maxVL && vl%16 == 0 }

// interruptedVG gives VG as it was where a signal came: streaming mode ends when a
// handler is called. The frame has records: magic and size, 4 bytes each, and what they
// are of. That of the vectors (sve_context, asm/sigcontext.h) has their length next. The
// records that do not fit lie where extra_context says. A processor without scalable
// vectors has no such record.
type interruptedVG struct{}

const (
	sveMagic   = 0x53564501
	extraMagic = 0x45585401
	maxRecords = 64 // in all: there are some ten kinds
)

// Eval implements [trad.Expression].
func (interruptedVG) Eval(env trad.Env, _ uint64, _ bool) (uint64, error) {
	sp, ok := env.Register(SP)
	if !ok {
		return 0, fmt.Errorf("sp: %w", trad.ErrUnavailable)
	}
	at, more := sp+frameSigcontext+sigcontextRecords, uint64(0)
	for range maxRecords {
		head, err := env.Word(at)
		if err != nil {
			return 0, err
		}
		magic, size := uint32(head), head>>32
		if magic == sveMagic || magic == extraMagic {
			word, err := env.Word(at + 8)
			if err != nil {
				return 0, err
			}
			if vl := word & 0xffff; magic == extraMagic {
				more = word
			} else if validLength(vl) {
				return vl / granule, nil
			}
		}
		if at += size; magic == 0 || size < 8 || size%16 != 0 {
			if at, more = more, 0; at == 0 {
				break
			}
		}
	}
	if vg, ok := env.Register(VG); ok {
		return vg, nil
	}
	return 0, fmt.Errorf("vg: %w", trad.ErrUnavailable)
}

func (interruptedVG) String() string { return "vg of the interrupted code" }
