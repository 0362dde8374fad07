package exidx

import (
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/trad"
)

// A Kind is what an instruction does.
type Kind uint8

const (
	Add       Kind = iota // the virtual stack pointer grows by Imm bytes, or shrinks
	SetVSP                // the virtual stack pointer is register Reg
	Pop                   // pops the core registers of Mask: bit n is r[n]
	PopVFP                // pops Count double registers from D[First] on, as VPUSH has saved them
	PopVFPX               // the same as FSTMFDX has saved them: with one more word
	PopWMMX               // pops Count registers from wR[First] on
	PopWCGR               // pops the wCGR registers of Mask
	PopRAAuth             // pops the return address's authentication code (PAC)
	AuthVSP               // the authentication's modifier is the virtual stack pointer as it is here
	Finish                // all is restored
	Refuse                // the function refuses to be unwound
	Spare                 // the instruction is not defined
)

// An Instruction is an unwinding instruction (EHABI32, section 10.3, table 4).
type Instruction struct {
	Kind         Kind
	Imm          int32
	Reg          trad.Reg
	Mask         uint16
	First, Count uint8
	Len          int // bytes of it
}

// Decode decodes the instruction that code begins with. The error wraps [ErrMalformed]; code must
// not be empty.
func Decode(code []byte) (Instruction, error) {
	b := code[0]
	switch {
	case b&0x80 == 0: // 00xxxxxx, 01xxxxxx
		n := int32(b&0x3f)<<2 + 4
		if b&0x40 != 0 {
			n = -n
		}
		return Instruction{Kind: Add, Imm: n, Len: 1}, nil
	case b>>4 == 9: // 1001nnnn
		if b&15 == 13 || b&15 == 15 {
			return Instruction{Kind: Spare, Len: 1}, nil // reserved
		}
		return Instruction{Kind: SetVSP, Reg: trad.Reg(b & 15), Len: 1}, nil
	case b>>4 == 10: // 10100nnn, 10101nnn
		mask := uint16(1<<(b&7+1)-1) << 4
		if b&8 != 0 {
			mask |= 1 << 14
		}
		return Instruction{Kind: Pop, Mask: mask, Len: 1}, nil
	case b>>3 == 0x17: // 10111nnn
		return doubles(PopVFPX, 8, b&7), nil
	case b>>3 == 0x1a: // 11010nnn
		return doubles(PopVFP, 8, b&7), nil
	case b>>3 == 0x18 && b&7 < 6: // 11000nnn
		return Instruction{Kind: PopWMMX, First: 10, Count: b&7 + 1, Len: 1}, nil
	case b == 0xb0:
		return Instruction{Kind: Finish, Len: 1}, nil
	case b == 0xb2:
		return large(code)
	case b == 0xb4:
		return Instruction{Kind: PopRAAuth, Len: 1}, nil
	case b == 0xb5:
		return Instruction{Kind: AuthVSP, Len: 1}, nil
	case b>>4 == 8, b == 0xb1, b == 0xb3, b == 0xc6, b == 0xc7, b == 0xc8, b == 0xc9:
		if len(code) < 2 {
			return Instruction{}, malformed("instruction", 0, "its second byte is missing")
		}
		return two(b, code[1]), nil
	}
	return Instruction{Kind: Spare, Len: 1}, nil
}

// two decodes an instruction of two bytes.
func two(b, c byte) Instruction {
	in := Instruction{Kind: Spare, Len: 2}
	switch first, more := c>>4, c&15; {
	case b>>4 == 8: // 1000iiii iiiiiiii
		in.Kind, in.Mask = Pop, (uint16(b&15)<<8|uint16(c))<<4
		if in.Mask == 0 {
			in.Kind = Refuse
		}
	case b == 0xb1 && c != 0 && first == 0: // pop {r0-r3} under mask
		in.Kind, in.Mask = Pop, uint16(c)
	case b == 0xc7 && c != 0 && first == 0:
		in.Kind, in.Mask = PopWCGR, uint16(c)
	case b == 0xb3:
		in = doubles(PopVFPX, first, more)
	case b == 0xc6:
		in.Kind, in.First, in.Count = PopWMMX, first, more+1
	case b == 0xc8:
		in = doubles(PopVFP, 16+first, more)
	case b == 0xc9:
		in = doubles(PopVFP, first, more)
	}
	in.Len = 2
	return in
}

// doubles makes an instruction that pops double registers first to first+more.
func doubles(kind Kind, first, more uint8) Instruction {
	return Instruction{Kind: kind, First: first, Count: more + 1, Len: 1}
}

// large decodes 10110010 uleb128: the virtual stack pointer grows by 0x204 + (uleb128 << 2).
func large(code []byte) (Instruction, error) {
	var n uint64
	for i, b := range code[1:] {
		if i == 5 {
			break
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 != 0 {
			continue
		}
		if n = 0x204 + n<<2; n > 1<<31-1 {
			return Instruction{}, malformed("instruction", 0, "a frame of 2 GiB or more")
		}
		return Instruction{Kind: Add, Imm: int32(n), Len: 2 + i}, nil
	}
	return Instruction{}, malformed("instruction", 0, "its number does not end")
}

// String returns the instruction as readelf -u prints it.
func (in Instruction) String() string {
	switch in.Kind {
	case Add:
		if in.Imm < 0 {
			return fmt.Sprintf("vsp = vsp - %d", -in.Imm)
		}
		return fmt.Sprintf("vsp = vsp + %d", in.Imm)
	case SetVSP:
		return fmt.Sprintf("vsp = r%d", in.Reg)
	case Pop:
		return "pop {" + strings.Join(masked("r", in.Mask), ", ") + "}"
	case PopVFP:
		return "pop {" + span("D", in.First, in.Count) + "}"
	case PopVFPX:
		return "pop FSTMFDX {" + span("D", in.First, in.Count) + "}"
	case PopWMMX:
		return "pop {" + span("wR", in.First, in.Count) + "}"
	case PopWCGR:
		return "pop {" + strings.Join(masked("wCGR", in.Mask), ", ") + "}"
	case PopRAAuth:
		return "pop {ra_auth_code}"
	case AuthVSP:
		return "vsp as modifier for PAC validation"
	case Finish:
		return "finish"
	case Refuse:
		return "Refuse to unwind"
	}
	return "[Spare]"
}

func masked(prefix string, mask uint16) (names []string) {
	for r := range 16 {
		if mask&(1<<r) != 0 {
			names = append(names, fmt.Sprint(prefix, r))
		}
	}
	return names
}

func span(prefix string, first, count uint8) string {
	if count == 1 {
		return fmt.Sprint(prefix, first)
	}
	return fmt.Sprint(prefix, first, "-", prefix, first+count-1)
}
