package elf

import "debug/elf"

// Relocation is what one type of relocation stores in a table of data: S+A, or S+A-P (System V ABI,
// chapter 4, and the processors' supplements).
type Relocation struct {
	Size  uint64 // of the field, bytes
	PCRel bool   // relative to the field (S+A-P)
}

// RelocationOf returns the relocation of a type. It knows the types that assemblers and compilers at
// run time use in unwind tables and debug information; ok is false for any other.
func RelocationOf(machine elf.Machine, kind uint32) (r Relocation, ok bool) {
	r, ok = relocations[machine][kind]
	return r, ok
}

// Relocates reports whether any relocation of a machine is known.
func Relocates(machine elf.Machine) bool { return relocations[machine] != nil }

var relocations = map[elf.Machine]map[uint32]Relocation{
	elf.EM_X86_64: {
		uint32(elf.R_X86_64_64):   {8, false},
		uint32(elf.R_X86_64_32):   {4, false},
		uint32(elf.R_X86_64_32S):  {4, false},
		uint32(elf.R_X86_64_PC32): {4, true},
		uint32(elf.R_X86_64_PC64): {8, true},
	},
	elf.EM_386: {
		uint32(elf.R_386_32):   {4, false},
		uint32(elf.R_386_PC32): {4, true},
	},
	elf.EM_ARM: {
		uint32(elf.R_ARM_ABS32): {4, false},
		uint32(elf.R_ARM_REL32): {4, true},
	},
	elf.EM_AARCH64: {
		uint32(elf.R_AARCH64_ABS64):  {8, false},
		uint32(elf.R_AARCH64_ABS32):  {4, false},
		uint32(elf.R_AARCH64_PREL64): {8, true},
		uint32(elf.R_AARCH64_PREL32): {4, true},
	},
	elf.EM_S390: {
		uint32(elf.R_390_64):   {8, false},
		uint32(elf.R_390_32):   {4, false},
		uint32(elf.R_390_PC32): {4, true},
		uint32(elf.R_390_PC64): {8, true},
	},
}
