package arch

import "github.com/sfwalk/sfwalk/trad"

// StackRules say where a function of the ABI has what on its stack.
type StackRules struct {
	RedZone    int   // bytes below SP that a function may use
	StackAlign int   // SP's alignment at a call, bytes; a power of two
	SPFromCFA  int64 // PREVIOUS's SP is CFA + SPFromCFA where no rule says otherwise
	// FrameRecord is the distance of the CFA from FP once a function with a frame
	// pointer has set it up, FP pointing to the saved FP and the return address
	// behind it; 0 where the ABI has no such record.
	FrameRecord int32
	// FrameRecordAnywhere says that the record may lie anywhere in the frame: the CFA is
	// then at FP+FrameRecord or further outward, and the record does not tell SP.
	FrameRecordAnywhere bool
	// FrameRecords are the forms of frame record where compilers do not agree on one, the likeliest
	// first; FrameRecord is 0 then.
	FrameRecords []FrameRecord
	// BackChainRA is the return address's distance from the CFA in a function that
	// keeps a back chain: the word at SP is PREVIOUS's SP. 0 where the ABI has none.
	BackChainRA int32
	RAOffset    int32 // the return address is at CFA+RAOffset on entry; 0 where it is in register RA
}

// FrameRecord says where a function with a frame pointer has saved what, in bytes from the frame
// pointer.
type FrameRecord struct {
	FP      trad.Reg // the frame pointer
	SavedFP int32    // of PREVIOUS's frame pointer
	SavedRA int32    // of the return address
	CFA     int32    // the CFA itself
}
