package amd64

import "testing"

// Real code, as gcc 12 made it.
var fuzzSeeds = [][]byte{
	// A frame pointer, a call, leave.
	[]byte("\x55\x48\x89\xe5\x48\x83\xec\x10\x89\x7d\xfc\xe8\x00\x01\x00\x00\xc9\xc3"),
	// Pushes, an early return, pops.
	[]byte("\x48\x85\xff\x74\x1d\x41\x54\x55\x53\x48\x83\xec\x10\xe8\x00\x10\x00\x00\x48\x83\xc4\x10\x5b\x5d\x41\x5c\xc3\x66\x0f\x1f\x44\x00\x00\x31\xc0\xc3"),
	// Realigned, the arguments through r10.
	[]byte("\x4c\x8d\x54\x24\x08\x48\x83\xe4\xe0\x41\xff\x72\xf8\x55\x48\x89\xe5\x41\x52\x48\x83\xec\x78\xe8\x00\x01\x00\x00\x48\x83\xc4\x78\x41\x5a\x5d\x49\x8d\x62\xf8\xc3"),
	// A large frame, page by page.
	[]byte("\x4c\x8d\x9c\x24\x00\xf0\xfe\xff\x48\x81\xec\x00\x10\x00\x00\x48\x83\x0c\x24\x00\x4c\x39\xdc\x75\xef\x48\x81\xec\x00\x01\x00\x00\xc3"),
	// A call that does not return, then another path.
	[]byte("\x53\x85\xff\x74\x06\x50\xe8\x00\x01\x00\x00\x5b\xc3"),
	// Linkage stubs.
	[]byte("\xff\x35\xe2\x2f\x00\x00\xff\x25\xe4\x2f\x00\x00\x0f\x1f\x40\x00"),
	[]byte("\xff\x25\xe2\x2f\x00\x00\x68\x00\x00\x00\x00\xe9\xe0\xff\xff\xff"),
	[]byte("\xf3\x0f\x1e\xfa\x68\x00\x00\x00\x00\xf2\xe9\xe1\xff\xff\xff\x90"),
	// vzeroupper and a vector move before the end.
	[]byte("\xc5\xf8\x77\xc5\xfe\x6f\x06\x62\xf1\xfe\x48\x6f\x06\xc3"),
	[]byte("\xff\x94\x24\x00\x01\x00\x00"),
}

func FuzzReadFrame(f *testing.F)    { processor.FuzzReadFrame(f, fuzzSeeds) }
func FuzzReadSplit(f *testing.F)    { processor.FuzzReadSplit(f, fuzzSeeds) }
func FuzzReadEpilogue(f *testing.F) { processor.FuzzReadEpilogue(f, fuzzSeeds) }
func FuzzInEpilogue(f *testing.F)   { processor.FuzzInEpilogue(f, fuzzSeeds) }
func FuzzSkipPrologue(f *testing.F) { processor.FuzzSkipPrologue(f, fuzzSeeds) }
func FuzzReferences(f *testing.F)   { processor.FuzzReferences(f, fuzzSeeds) }

func FuzzStubFrame(f *testing.F) {
	processor.FuzzStubFrame(f, fuzzSeeds, func(fromSP int32) bool { return fromSP >= 8 && fromSP <= 8+8*16 && fromSP%8 == 0 })
}

func FuzzAfterCall(f *testing.F) { processor.FuzzAfterCall(f, fuzzSeeds, 8) }

// TestHostileCode: the bounds hold on code made to be slow.
func TestHostileCode(t *testing.T) {
	processor.Hostile(t,
		"\x55",                                 // push %rbp
		"\x0f\x84\x00\x10\x00\x00",             // branches forward
		"\x0f\x85\x00\xf0\xff\xff",             // and back
		"\x53\x74\x80\x75\x7f",                 // at every depth
		"\x50\xe8\x00\x01\x00\x00\x74\xf0",     // calls to blame
		"\x48\x83\xe4\xe0\x55\x74\x10\x41\x54", // names upon names
		"\xc3",
		"\xe8\x00\x00\x00\x00\x5b\xc3",
	)
}
