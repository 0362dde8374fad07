// Package disassembly writes instructions as the GNU tools do, for all processors that have a
// descriptor. It is apart from the descriptors, so that a program that shows no instructions does
// not link their names.
package disassembly

import (
	"bytes"
	"debug/elf"
	"fmt"
	"strings"

	"golang.org/x/arch/arm/armasm"
	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/s390x/s390xasm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/arch/internal/x86"
)

// Decoder returns the text of the instruction that code begins with, and its length in bytes, from
// 1 to len(code). code is at address at, and is not empty. name returns the function that holds an
// address, and where it begins; "" if there is none. What is no instruction is shown by its bytes.
type Decoder func(code []byte, at uint64, name func(addr uint64) (function string, start uint64)) (text string, n int)

// Of returns the decoder of a machine; nil if there is none. intel says that x86's instructions are
// written as in Intel's manuals, and not as AT&T's assembler has them.
func Of(machine elf.Machine, intel bool) Decoder {
	switch machine {
	case elf.EM_X86_64:
		return decodeX86(64, intel)
	case elf.EM_386:
		return decodeX86(32, intel)
	case elf.EM_AARCH64:
		return func(text []byte, at uint64, _ func(uint64) (string, uint64)) (string, int) {
			in, err := arm64asm.Decode(text)
			return shown(text, 4, err, func() string { return arm64asm.GNUSyntax(in) })
		}
	case elf.EM_ARM:
		return func(text []byte, at uint64, _ func(uint64) (string, uint64)) (string, int) {
			in, err := armasm.Decode(text, armasm.ModeARM)
			return shown(text, 4, err, func() string { return armasm.GNUSyntax(in) })
		}
	case elf.EM_S390:
		return func(text []byte, at uint64, _ func(uint64) (string, uint64)) (string, int) {
			in, err := s390xasm.Decode(text)
			n := 6 // the first two bits tell the length
			switch text[0] >> 6 {
			case 0:
				n = 2
			case 1, 2:
				n = 4
			}
			return shown(text, n, err, func() string { return s390xasm.GNUSyntax(in, at) })
		}
	}
	return nil
}

// shown returns an instruction of n bytes; its bytes alone if it could not be decoded.
func shown(text []byte, n int, err error, write func() string) (string, int) {
	n = min(n, len(text))
	if err == nil {
		return write(), n
	}
	list := make([]string, n)
	for i, x := range text[:n] {
		list[i] = fmt.Sprintf("%#02x", x)
	}
	return ".byte " + strings.Join(list, ", "), n
}

// byHand are instructions that x86asm gets wrong.
var byHand = []struct {
	code []byte
	name string
}{{[]byte{0xf3, 0x0f, 0x1e, 0xfa}, "endbr64"}, {[]byte{0xf3, 0x0f, 0x1e, 0xfb}, "endbr32"}, {[]byte{0xc5, 0xf8, 0x77}, "vzeroupper"}, {[]byte{0xc5, 0xfc, 0x77}, "vzeroall"}}

// decodeX86 returns the decoder of x86's instructions in code of 32 or 64 bits.
func decodeX86(mode int, intel bool) Decoder {
	var numbers [16]dataflow.Reg
	lengths := x86.New(mode, dataflow.None, numbers[:mode/4]...)
	return func(text []byte, at uint64, name func(uint64) (string, uint64)) (string, int) {
		for _, x := range byHand {
			if bytes.HasPrefix(text, x.code) {
				return x.name, len(x.code)
			}
		}
		length, _ := lengths.Decode(text, 0, nil)
		in, err := x86asm.Decode(text[:min(len(text), x86.MaxLen)], mode)
		if err == nil && (in.Op == 0 || in.Len != int(length.Len)) {
			err = x86asm.ErrUnrecognized
		}
		return shown(text, max(1, int(length.Len)), err, func() string {
			if intel {
				return x86asm.IntelSyntax(in, at, name)
			}
			return x86asm.GNUSyntax(in, at, name)
		})
	}
}
