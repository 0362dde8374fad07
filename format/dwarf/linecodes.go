package dwarf

// Standard opcodes of line number programs (DWARF 5, section 6.2.5.2). LNSExtended begins an
// extended one.
const (
	LNSExtended       = 0
	LNSCopy           = 1
	LNSAdvancePC      = 2
	LNSAdvanceLine    = 3
	LNSSetFile        = 4
	LNSSetColumn      = 5
	LNSNegateStmt     = 6
	LNSSetBasicBlock  = 7
	LNSConstAddPC     = 8
	LNSFixedAdvancePC = 9
	LNSPrologueEnd    = 10
	LNSEpilogueBegin  = 11
	LNSSetISA         = 12
)

// Extended opcodes of line number programs (section 6.2.5.3).
const (
	LNEEndSequence      = 1
	LNESetAddress       = 2
	LNEDefineFile       = 3
	LNESetDiscriminator = 4
)

// Entry formats of the lists of files and directories of DWARF 5 (table 7.27).
const (
	LNCTPath      = 1
	LNCTDirectory = 2
)
