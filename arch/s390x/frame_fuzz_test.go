package s390x

import "testing"

// Real code, as gcc 12 made it.
var fuzzSeeds = [][]byte{
	code(stmgR11, lay160, lgrFP, call, lmgByFP, br14),
	code(ldgr0R11, ldgr2R14, ldgr4R15, sgrR1, lgrFP, lgR14, lgdrR15, lgdrR14, lgdrR11, br14),
	// A path that does not return, then one that does.
	code(ltgrR2, "\xa7\x84\x00\x0b", stmgR11, lay160, call, br14),
	// A large frame, page by page.
	code("\xeb\xaf\xf0\x50\x00\x24\xe3\xe0\xf0\x00\xd0\x71\xe3\xf0\xf0\x00\xff\x71\xe3\x00\xff\xf8\x00\x20\xb9\x21\x00\xfe\xa7\x24\xff\xf8\xb9\x04\x00\xfe",
		"\xe3\xf0\xf2\x20\xff\x71\xeb\xaf\xfe\x30\x30\x04\x07\xfe"),
	// Taken down by a constant in memory.
	code(stmgR11, "\xc0\xd0\x00\x00\x01\x4d\xc2\xf4\x00\x2d\xc7\x60\xe3\xf0\xd0\x00\x00\x08\x1a\x2b\xeb\xbf\xf0\x58\x00\x04", br14),
	// The back chain; floating-point registers through another base; a loop.
	code("\xeb\x6f\xf0\x30\x00\x24\xb9\x04\x00\xef\xe3\xf0\xfd\xc8\xff\x71\xa7\xeb\xff\xd0\x60\x80\xe0\x00\xb9\x04\x00\x1f\xe3\x10\xf0\x00\x00\x24\xa7\xb7\xff\xf8\xd2\xff\x20\x01\x20\x00"),
	// Linkage stubs.
	code("\xc0\x10\x00\x00\x0d\x1c\xe3\x10\x10\x00\x00\x04\x07\xf1\x0d\x10\xe3\x10\x10\x0c\x00\x14\xc0\xf4\xff\xff\xff\xe5\x00\x00\x00\x00"),
	code("\xe3\x10\xf0\x38\x00\x24\xc0\x10\x00\x00\x0d\x09\xd2\x07\xf0\x30\x10\x08\xe3\x10\x10\x10\x00\x04\x07\xf1\x07\x00\x07\x00\x07\x00"),
	// Of the long tail.
	code("\xb2\x5e\x00\x12\xb9\x87\x00\x2c\xb3\x4a\x00\x80\xe7\x80\x00\x00\x08\x44\xed\x80\x10\x00\x00\x1a\x98\x6f\xf0\x18\xa8\x24\x00\x00"),
}

func FuzzReadFrame(f *testing.F)    { processor.FuzzReadFrame(f, fuzzSeeds) }
func FuzzReadSplit(f *testing.F)    { processor.FuzzReadSplit(f, fuzzSeeds) }
func FuzzReadEpilogue(f *testing.F) { processor.FuzzReadEpilogue(f, fuzzSeeds) }
func FuzzInEpilogue(f *testing.F)   { processor.FuzzInEpilogue(f, fuzzSeeds) }
func FuzzSkipPrologue(f *testing.F) { processor.FuzzSkipPrologue(f, fuzzSeeds) }
func FuzzReferences(f *testing.F)   { processor.FuzzReferences(f, fuzzSeeds) }

func FuzzStubFrame(f *testing.F) {
	processor.FuzzStubFrame(f, fuzzSeeds, func(fromSP int32) bool { return fromSP == saveArea })
}

func FuzzAfterCall(f *testing.F) { processor.FuzzAfterCall(f, fuzzSeeds, 8) }

// TestHostileCode: the bounds hold on code made to be slow.
func TestHostileCode(t *testing.T) {
	processor.Hostile(t,
		stmgR11,
		"\xa7\x84\x08\x00", // branches forward
		"\xa7\x84\xf8\x00", // and back
		"\xeb\x6f\xf0\x30\x00\x24\xa7\x84\x80\x00\xa7\x74\x00\x7f\xa7\xfb\xff\xf8", // at every depth
		lay160+call+"\xa7\x84\xff\xf0",                                             // calls to blame
		sgrR1+stmgR11+"\xa7\x84\x00\x10"+"\x60\x80\xf0\x10",                        // names upon names
		br14,
		"\xa7\xe5\x00\x02"+br14,
		"\x0d\xe1"+br14+"\xa7\x84\x00\x01",
		"\xe7\x80\x00\x00\x08\x44", // only the library knows it
		"\x00",
		"\xff",
	)
}
