package sframe

import "encoding/binary"

// Magic is sfp_magic, the first two bytes of every section in the target's
// byte order (SFrame Preamble).
const Magic = 0xdee2

// Version is sfp_version (SFrame Version).
type Version uint8

// The versions of the format.
const (
	V1 Version = 1
	V2 Version = 2
	V3 Version = 3
)

// Flags is sfp_flags, the section-wide properties (SFrame Flags).
type Flags uint8

const (
	// FDESorted says that the FDEs are sorted on their start address.
	FDESorted Flags = 0x1
	// FramePointer says that all functions of the object preserve the frame
	// pointer. Defined for V1 and V2; Open refuses a section of V3 that has it.
	FramePointer Flags = 0x2
	// FDEFuncStartPCRel says that a start address is relative to the field that holds it, instead
	// of the start of the section. Defined for V2 (errata 1) and V3.
	FDEFuncStartPCRel Flags = 0x4
)

// ABI is sfh_abi_arch, the ABI and byte order of the target (SFrame ABI/arch
// Identifier).
type ABI uint8

// The ABIs. S390X is defined from V2 (errata 1) on.
const (
	AArch64BE ABI = 1
	AArch64LE ABI = 2
	AMD64     ABI = 3
	S390X     ABI = 4
)

// SP returns the DWARF number of the ABI's stack pointer.
func (a ABI) SP() uint16 {
	switch a {
	case AMD64:
		return 7
	case S390X:
		return 15
	}
	return 31
}

// FP returns the DWARF number of the ABI's preferred frame pointer.
func (a ABI) FP() uint16 {
	switch a {
	case AMD64:
		return 6
	case S390X:
		return 11
	}
	return 29
}

// RA returns the DWARF number of the ABI's return address register. AMD64 has no such register;
// there it is the return address column.
func (a ABI) RA() uint16 {
	switch a {
	case AMD64:
		return 16
	case S390X:
		return 14
	}
	return 30
}

// bigEndian reports the byte order that the ABI's name promises.
func (a ABI) bigEndian() bool { return a == AArch64BE || a == S390X }

// A Header is the section's preamble and header (SFrame Header). Offsets are
// in bytes.
type Header struct {
	Version   Version
	Flags     Flags
	ABI       ABI
	FixedFP   int8             // sfh_cfa_fixed_fp_offset: FP is at CFA+FixedFP; 0 = not fixed
	FixedRA   int8             // sfh_cfa_fixed_ra_offset: RA is at CFA+FixedRA; 0 = not fixed
	NumFDEs   uint32           // sfh_num_fdes
	NumFREs   uint32           // sfh_num_fres, as stored; this package does not rely on it
	FRELen    uint32           // sfh_fre_len: size of the FRE sub-section
	FDEOff    uint32           // sfh_fdeoff: FDE sub-section, from the end of the header
	FREOff    uint32           // sfh_freoff: FRE sub-section, from the end of the header
	ByteOrder binary.ByteOrder // of every field, detected from the magic number
	AuxHeader []byte           // the auxiliary header's bytes, in place; nil if there is none
}

// FREType is the width of an FRE's start offset (The SFrame FRE Types).
type FREType uint8

// The FRE types: start offsets of 1, 2 and 4 bytes.
const (
	Addr1 FREType = 0
	Addr2 FREType = 1
	Addr4 FREType = 2
)

// PCType says from where the start offsets of an FDE's FREs count (The SFrame FDE PC Types; V1 and
// V2 call it the FDE type).
type PCType uint8

const (
	// PCInc counts from the start of the function.
	PCInc PCType = 0
	// PCMask counts from the start of a block of RepSize bytes; the function
	// is a row of such blocks, like the entries of a PLT.
	PCMask PCType = 1
)

// FDEType says how to read the data words of an FDE's FREs (The SFrame FDE Types, V3). An FDE of V1
// or V2 is always of type FDEDefault.
type FDEType uint8

const (
	// FDEDefault has one data word per rule. The ABI gives the words their meaning.
	FDEDefault FDEType = 0
	// FDEFlex has a control word and an offset per rule.
	FDEFlex FDEType = 1
)

// PauthKey is the key that signs return addresses (AArch64 only).
type PauthKey uint8

// The pointer authentication keys.
const (
	PauthA PauthKey = 0
	PauthB PauthKey = 1
)

// An FDE is a function descriptor entry (SFrame FDE): in V3, both its index
// entry and its attribute.
type FDE struct {
	Index   int    // position in the FDE sub-section
	Start   uint64 // link-time address of the function's first byte
	Size    uint32 // of the function, in bytes; may be 0
	FREOff  uint32 // of the FDE's first FRE (V3: of its attribute) in the FRE sub-section
	NumFREs uint32

	FREType  FREType
	PCType   PCType
	Type     FDEType
	PauthKey PauthKey
	Signal   bool  // the function is a signal trampoline (V3)
	RepSize  uint8 // size of a PCMask block in bytes; 16, a PLT entry's, in V1, which has no such field
}

// FREInfo is the info byte of an FRE (The SFrame FRE Info Word).
type FREInfo uint8

// MangledRA reports whether the return address is signed.
func (i FREInfo) MangledRA() bool { return i&0x80 != 0 }

// WordSize returns the size of a data word in bytes: 1, 2 or 4, or 0 if the info byte has the
// undefined value.
func (i FREInfo) WordSize() int { return [4]int{1, 2, 4, 0}[i>>5&3] }

// NumWords returns the number of data words, 0 to 15.
func (i FREInfo) NumWords() int { return int(i >> 1 & 0xf) }

// BaseSP reports whether the base register of the CFA is SP and not FP. It
// means nothing in a Flex FDE.
func (i FREInfo) BaseSP() bool { return i&1 != 0 }

// An FRE is a frame row entry (SFrame FRE). It holds from Offset up to the
// next FRE's Offset, the last one up to the end of the function or block.
type FRE struct {
	Offset      uint32 // from the start of the function, or of the block (PCMask)
	Info        FREInfo
	CFA, RA, FP Rule
	Words       []byte // the data words as they lie in the section
}

// RuleKind is the kind of a Rule.
type RuleKind uint8

const (
	// RuleNone: nothing is known. An outermost row has it for CFA and FP.
	RuleNone RuleKind = iota
	// RuleSame: the register still has the value that it has in PREVIOUS.
	RuleSame
	// RuleUndefined: there is no PREVIOUS. An outermost row has it for RA.
	RuleUndefined
	// RuleSaved: the value is in memory at CFA+Off.
	RuleSaved
	// RuleValue: the value is CFA+Off itself.
	RuleValue
	// RuleSavedAt: the value is in memory at Reg+Off.
	RuleSavedAt
	// RuleInReg: the value is Reg+Off itself. This is the CFA's usual rule.
	RuleInReg
)

// A Rule says where to find one of CFA, RA and FP. The fixed offsets of the header are already
// applied.
type Rule struct {
	Kind RuleKind
	Reg  uint16 // DWARF register number; RuleSavedAt and RuleInReg only
	Off  int32  // in bytes
}

// RowFlags are the properties of a Row.
type RowFlags uint8

const (
	RowSignal    RowFlags = 1 << iota // the row is of a signal trampoline
	RowOutermost                      // RA is undefined: the chain ends here
	RowMangledRA                      // the return address is signed
	RowPauthB                         // … with key B instead of key A
	RowPCMask                         // the row is of one block of a PCMask FDE
)

// A Row is the answer for a PC: the rules that hold for Lo <= PC < Lo+Len. Lo+Len never wraps.
type Row struct {
	Lo          uint64 // link-time address
	Len         uint32 // in bytes, at least 1
	Flags       RowFlags
	CFA, RA, FP Rule
}
