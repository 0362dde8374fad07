package s390x

import "encoding/binary"

// value is what GDB's reader knows of a register: the value that register base had at the entry and
// a constant; or a constant alone, if base is constant.
type value struct {
	base int8
	off  int64
}

const (
	unknown  int8 = -1
	constant int8 = -2
)

func (v value) add(k int64) value {
	if v.base != unknown {
		v.off += k
	}
	return v
}

// sum returns the sum of two values; it is known if one of them is a constant.
func sum(a, b value) value {
	switch {
	case b.base == constant:
		return a.add(b.off)
	case a.base == constant:
		return b.add(a.off)
	}
	return value{base: unknown}
}

// analyzed is what is known between two instructions.
type analyzed struct {
	regs  [16]value
	chain bool // the back chain was stored
}

// stackPointer is SP; framePointer is the frame pointer where there is one.
const stackPointer, framePointer = 15, 11

// analyzePrologue returns the address behind the last instruction that changes SP or the frame
// pointer, or stores the back chain, as GDB finds it where no line table tells
// (s390_analyze_prologue); start if there is none. Instructions that it does not know count as
// none. start is the entry of the function whose bytes are code.
func analyzePrologue(code []byte, start uint64) uint64 {
	var s analyzed
	for i := range s.regs {
		s.regs[i] = value{base: int8(i)}
	}
	end := 0
	for at := 0; at < len(code); {
		size := []int{2, 4, 4, 6}[code[at]>>6]
		if at+size > len(code) {
			break
		}
		before := s
		if leaves := s.execute(code[at : at+size]); leaves {
			break
		}
		at += size
		changed := func(r int) bool {
			now := s.regs[r]
			return now != before.regs[r] && now.base != unknown && now != value{base: int8(r)}
		}
		if changed(stackPointer) || changed(framePointer) || s.chain != before.chain {
			end = at
		}
	}
	return start + uint64(end)
}

// execute executes an instruction, and reports whether control may go elsewhere from it.
func (s *analyzed) execute(in []byte) (leaves bool) {
	var wide [8]byte
	copy(wide[:], in)
	r1, x2, b2 := in[1]>>4, in[1]&15, wide[2]>>4
	imm16 := int64(int16(binary.BigEndian.Uint16(wide[2:])))
	imm32 := int64(int32(binary.BigEndian.Uint32(wide[2:])))
	long := int64(int8(wide[4]))<<12 | int64(binary.BigEndian.Uint16(wide[2:])&0xfff)
	short := int64(binary.BigEndian.Uint16(wide[2:]) & 0xfff)
	address := func(d int64) value {
		v := value{base: constant, off: d}
		for _, r := range []byte{x2, b2} {
			if r != 0 {
				v = sum(v, s.regs[r])
			}
		}
		return v
	}
	store := func(d int64) {
		s.chain = s.chain || s.regs[r1].base == stackPointer && address(d) == s.regs[stackPointer]
	}
	switch key := uint16(in[0])<<8 | uint16(in[len(in)-1]); {
	case in[0] == 0x18: // lr
		s.regs[r1] = s.regs[x2]
	case in[0] == 0x1a: // ar
		s.regs[r1] = sum(s.regs[r1], s.regs[x2])
	case in[0] == 0x1b: // sr
		s.regs[r1] = value{base: unknown}
	case in[0] == 0xb9 && in[1] == 0x04: // lgr
		s.regs[in[3]>>4] = s.regs[in[3]&15]
	case in[0] == 0xb9 && in[1] == 0x08: // agr
		s.regs[in[3]>>4] = sum(s.regs[in[3]>>4], s.regs[in[3]&15])
	case in[0] == 0xb9 && in[1] == 0x09: // sgr
		s.regs[in[3]>>4] = value{base: unknown}
	case in[0] == 0xa7 && (x2 == 8 || x2 == 9): // lhi, lghi
		s.regs[r1] = value{base: constant, off: imm16}
	case in[0] == 0xa7 && (x2 == 10 || x2 == 11): // ahi, aghi
		s.regs[r1] = s.regs[r1].add(imm16)
	case in[0] == 0xc0 && x2 == 1: // lgfi
		s.regs[r1] = value{base: constant, off: imm32}
	case in[0] == 0xc0 && x2 == 0: // larl
		s.regs[r1] = value{base: constant, off: imm32}
	case in[0] == 0xc2 && x2 >= 8 && x2 <= 11: // agfi, afi, algfi, alfi
		s.regs[r1] = s.regs[r1].add(imm32)
	case in[0] == 0x58, in[0] == 0x5a, in[0] == 0x5b: // l, a, s
		s.regs[r1] = value{base: unknown}
	case key == 0xe304, key == 0xe358, key == 0xe308, key == 0xe309, key == 0xe35a, key == 0xe35b: // lg, ly, ag, sg, ay, sy
		s.regs[r1] = value{base: unknown}
	case in[0] == 0x41: // la
		s.regs[r1] = address(short)
	case key == 0xe371: // lay
		s.regs[r1] = address(long)
	case in[0] == 0x50: // st
		store(short)
	case key == 0xe324, key == 0xe350: // stg, sty
		store(long)
	case in[0] == 0x0d && x2 == 0: // basr that goes on
		s.regs[r1] = value{base: constant}
	case in[0] == 0x07 && r1 != 0 && x2 != 0, in[0] == 0x47 && r1 != 0, in[0] == 0x0d, in[0] == 0x4d: // bcr, bc, basr, bas
		return true
	case in[0] == 0xa7 && (x2 == 4 && r1 != 0 || x2 == 5), in[0] == 0xc0 && (x2 == 4 && r1 != 0 || x2 == 5): // brc, bras, brcl, brasl
		return true
	}
	return false
}
