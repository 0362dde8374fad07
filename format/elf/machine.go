package elf

import "debug/elf"

// machine is what the ELF format leaves to a processor's supplement (System V ABI), as far as the
// readers here need it.
type machine struct {
	relocations map[uint32]Relocation // of unwind tables and debug information, by their types
	x32         bool                  // files of 32-bit addresses have the same types
	wideHash    bool                  // entries of .hash have 8 bytes where the file has 64 bits (s390x)
	thumb       bool                  // the lowest bit of a function's address says that its code is Thumb
}

// Relocation is what one type of relocation stores in a table of data: S+A, or S+A-P (System V ABI,
// chapter 4, and the processors' supplements).
type Relocation struct {
	Size  uint64 // of the field, bytes
	PCRel bool   // relative to the field (S+A-P)
}

// RelocationOf returns the relocation of a type. It knows the types that assemblers and compilers
// at run time use in unwind tables and debug information; ok is false for any other.
func RelocationOf(m elf.Machine, kind uint32) (r Relocation, ok bool) {
	r, ok = machines[m].relocations[kind]
	return r, ok
}

// Relocates reports whether [RelocationOf] knows the relocations (SHT_RELA) in files of a machine
// and a class: a machine may have files of 64 bits, and others of 32 bits. Call it before you read
// such a table.
func Relocates(m elf.Machine, class elf.Class) bool {
	return machines[m].relocations != nil && (class == elf.ELFCLASS64 || machines[m].x32)
}

// machines is the one place that knows processors: the readers of ELF know no descriptors.
var machines = map[elf.Machine]machine{
	elf.EM_X86_64: {relocations: map[uint32]Relocation{
		uint32(elf.R_X86_64_64):   {8, false},
		uint32(elf.R_X86_64_32):   {4, false},
		uint32(elf.R_X86_64_32S):  {4, false},
		uint32(elf.R_X86_64_PC32): {4, true},
		uint32(elf.R_X86_64_PC64): {8, true},
	}, x32: true},
	elf.EM_386: {relocations: map[uint32]Relocation{
		uint32(elf.R_386_32):   {4, false},
		uint32(elf.R_386_PC32): {4, true},
	}},
	elf.EM_ARM: {relocations: map[uint32]Relocation{
		uint32(elf.R_ARM_ABS32): {4, false},
		uint32(elf.R_ARM_REL32): {4, true},
	}, thumb: true},
	elf.EM_AARCH64: {relocations: map[uint32]Relocation{
		uint32(elf.R_AARCH64_ABS64):  {8, false},
		uint32(elf.R_AARCH64_ABS32):  {4, false},
		uint32(elf.R_AARCH64_PREL64): {8, true},
		uint32(elf.R_AARCH64_PREL32): {4, true},
	}},
	elf.EM_S390: {relocations: map[uint32]Relocation{
		uint32(elf.R_390_64):   {8, false},
		uint32(elf.R_390_32):   {4, false},
		uint32(elf.R_390_PC32): {4, true},
		uint32(elf.R_390_PC64): {8, true},
	}, wideHash: true},
}
