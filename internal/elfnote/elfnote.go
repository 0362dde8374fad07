// Package elfnote has the numbers of ELF notes, and makes notes. Those of register sets are in
// package arch.
package elfnote

import "encoding/binary"

// Owners of notes, as the kernel and the tool chain write them.
const (
	Core  = "CORE"
	Linux = "LINUX"
	GNU   = "GNU"
)

// Types of notes (elf.h).
const (
	PRPSInfo uint32 = 3          // NT_PRPSINFO of CORE
	BuildID  uint32 = 3          // NT_GNU_BUILD_ID of GNU
	Auxv     uint32 = 6          // NT_AUXV of CORE
	PACMask  uint32 = 0x406      // NT_ARM_PAC_MASK of LINUX: data_mask, insn_mask
	File     uint32 = 0x46494c45 // NT_FILE of CORE
	Siginfo  uint32 = 0x53494749 // NT_SIGINFO of CORE
)

// HeaderSize is the size of a note's header (struct Elf64_Nhdr), bytes.
const HeaderSize = 12

// Append adds a note to notes, a multiple of 4 bytes: name and desc are each filled up to one.
func Append(notes []byte, order binary.ByteOrder, owner string, typ uint32, desc []byte) []byte {
	var head [HeaderSize]byte
	order.PutUint32(head[:], uint32(len(owner)+1))
	order.PutUint32(head[4:], uint32(len(desc)))
	order.PutUint32(head[8:], typ)
	notes = append(append(notes, head[:]...), owner...)
	notes = append(notes, make([]byte, 4-len(owner)%4)...)
	notes = append(notes, desc...)
	return append(notes, make([]byte, -len(desc)&3)...)
}
