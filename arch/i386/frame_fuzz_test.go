package i386

import "testing"

// Real code, as gcc 14 made it.
var fuzzSeeds = [][]byte{
	// A thunk in the function, which is called, and one by which it returns.
	[]byte("\xeb\x10\xe8\x07\x00\x00\x00\xf3\x90\x0f\xae\xe8\xeb\xf9\x89\x04\x24\xc3\xe8\xeb\xff\xff\xff\xe8\x07\x00\x00\x00\xf3\x90\x0f\xae\xe8\xeb\xf9\x8d\x64\x24\x04\xc3"),
	// A frame pointer, pushed arguments, leave.
	[]byte("\x55\x89\xe5\x83\xec\x08\x83\xec\x0c\xff\x75\x08\xe8\x00\x01\x00\x00\x83\xc4\x10\xc9\xc3"),
	// Pushes, an early return, pops.
	[]byte("\x85\xc0\x74\x0d\x57\x56\x53\x83\xec\x10\xe8\x00\x10\x00\x00\x83\xc4\x10\x5b\x5e\x5f\xc3\x8d\x74\x26\x00\x31\xc0\xc3"),
	// Realigned, the arguments through ecx.
	[]byte("\x8d\x4c\x24\x04\x83\xe4\xf0\xff\x71\xfc\x55\x89\xe5\x51\x83\xec\x74\xe8\x00\x01\x00\x00\x8b\x4d\xfc\xc9\x8d\x61\xfc\xc3"),
	// A large frame, page by page.
	[]byte("\x8d\x84\x24\x00\xf0\xfe\xff\x81\xec\x00\x10\x00\x00\x83\x0c\x24\x00\x39\xc4\x75\xf1\x81\xec\x00\x01\x00\x00\xc3"),
	// A function that returns a struct is called, and takes its address off the stack.
	[]byte("\x83\xec\x28\x8d\x44\x24\x10\x50\xe8\x00\x01\x00\x00\x83\xec\x04\x83\xc4\x2c\xc2\x04\x00"),
	// The global offset table's address.
	[]byte("\x53\xe8\x00\x01\x00\x00\x81\xc3\x00\x20\x00\x00\x83\xec\x08\x8d\x83\x10\xe0\xff\xff\x83\xc4\x08\x5b\xc3"),
	// Linkage stubs.
	[]byte("\xff\xb3\x04\x00\x00\x00\xff\xa3\x08\x00\x00\x00\x0f\x1f\x40\x00"),
	[]byte("\xff\x25\x0c\xc0\x04\x08\x68\x00\x00\x00\x00\xe9\xe0\xff\xff\xff"),
	[]byte("\xf3\x0f\x1e\xfb\x68\x00\x00\x00\x00\xe9\xe2\xff\xff\xff\x66\x90"),
	// A system call; all registers pushed and popped.
	[]byte("\x89\xda\x8b\x5c\x24\x04\xb8\x01\x00\x00\x00\x65\xff\x15\x10\x00\x00\x00\x89\xd3\xc3"),
	[]byte("\x60\xc4\x04\x24\x62\x04\x24\x61\xc3"),
}

func FuzzReadFrame(f *testing.F)    { processor.FuzzReadFrame(f, fuzzSeeds) }
func FuzzReadSplit(f *testing.F)    { processor.FuzzReadSplit(f, fuzzSeeds) }
func FuzzReadEpilogue(f *testing.F) { processor.FuzzReadEpilogue(f, fuzzSeeds) }
func FuzzInEpilogue(f *testing.F)   { processor.FuzzInEpilogue(f, fuzzSeeds) }
func FuzzSkipPrologue(f *testing.F) { processor.FuzzSkipPrologue(f, fuzzSeeds) }
func FuzzReferences(f *testing.F)   { processor.FuzzReferences(f, fuzzSeeds) }
func FuzzReadAhead(f *testing.F)    { processor.FuzzReadAhead(f, fuzzSeeds) }
func FuzzCallTarget(f *testing.F)   { processor.FuzzCallTarget(f, fuzzSeeds) }

func FuzzStubFrame(f *testing.F) {
	processor.FuzzStubFrame(f, fuzzSeeds, func(fromSP int32) bool { return fromSP >= 4 && fromSP <= 4+4*16 && fromSP%4 == 0 })
}

func FuzzAfterCall(f *testing.F) { processor.FuzzAfterCall(f, fuzzSeeds, 8) }

// TestHostileCode: the bounds hold on code made to be slow.
func TestHostileCode(t *testing.T) {
	processor.Hostile(t,
		"\x55",                             // push %ebp
		"\x0f\x84\x00\x10\x00\x00",         // branches forward
		"\x0f\x85\x00\xf0\xff\xff",         // and back
		"\x53\x74\x80\x75\x7f",             // at every depth
		"\x50\xe8\x00\x01\x00\x00\x74\xf0", // calls to blame
		"\x83\xe4\xe0\x55\x74\x10\x56",     // names upon names
		"\x54\xe8\x00\x01\x00\x00",         // calls with the stack's address
		"\xc3",
		"\xe8\x00\x00\x00\x00\x5b\xc3",
	)
}
