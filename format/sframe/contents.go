package sframe

// Contents is the information in a section, without its layout: Encode writes it,
// Convert turns it into another version, and Join joins several.
type Contents struct {
	Version          Version
	ABI              ABI
	Flags            Flags  // FDESorted: Encode sorts the FDEs; the others as in Header
	FixedFP, FixedRA int8   // as in Header
	AuxHeader        []byte // as in Header, at most 255 bytes

	// Functions are in the order in which their FREs lie in the section. The FDEs are in the same
	// order, unless Flags has FDESorted.
	Functions []Function
}

// A Function is one FDE with its FREs.
type Function struct {
	Start uint64 // link-time address of the function's first byte
	Size  uint32 // in bytes

	PCType   PCType
	RepSize  uint8 // of a PCMask block, in bytes, at least 1; V1 holds only 16
	PauthKey PauthKey
	Signal   bool // the function is a signal trampoline (V3)

	// Type and FREType are lower bounds. Encode takes FDEFlex if an entry needs it, and the
	// smallest FRE type that fits, but none below these.
	//
	// In V1 and V2 a function without entries says nothing. In V3 such a function with Signal says
	// that its rules are not known. A Default one without Signal says that its frame is outermost.
	Type    FDEType
	FREType FREType

	Entries []Entry // by ascending Offset
}

// An Entry has the rules of one FRE. They hold from Offset up to the next
// entry's Offset, or to the end of the function or block.
type Entry struct {
	Offset      uint32 // in bytes from the start of the function, or of the block (PCMask)
	MangledRA   bool   // the return address is signed
	CFA, RA, FP Rule   // if RA is RuleUndefined, the frame is outermost; then CFA and FP are RuleNone
}
