package s390x

// A linkage stub, which linkers make 32 bytes long: it loads the address of a
// slot, what is in the slot, and goes there. The slot points at first to the
// rest of the stub, which loads the number of a relocation and goes to the first
// stub of the table, and that to the dynamic linker.
const (
	stubSize      = 32
	larl          = 6  // bytes of the instruction that loads the slot's address
	stubCode      = 28 // bytes of code in a stub; the number follows
	firstStubCode = 26 // and in the first one; padding follows
)

// stubFrame implements arch.Arch.StubFrame. Stubs leave the stack alone. The
// first one stores two words into the register save area.
func stubFrame(code []byte, start, pc uint64) (fromSP int32, ok bool) {
	off := pc - start
	if pc < start || off >= uint64(min(len(code), stubSize)) {
		return 0, false
	}
	switch {
	case isStub(code):
		if off >= stubCode {
			return 0, false // the relocation's number
		}
	case isFirstStub(code):
		if off >= firstStubCode {
			return 0, false // padding
		}
	default:
		return 0, false
	}
	return saveArea, true
}

// stubSlot implements arch.Arch.StubSlot.
func stubSlot(code []byte, start, _ uint64) (slot uint64, length int, ok bool) {
	if !isStub(code) {
		return 0, 0, false
	}
	refers := Machine.References(code[:larl], start) // none if the slot is too far away
	if len(refers) == 0 {
		return 0, 0, false
	}
	return refers[0], min(stubSize, len(code)), true
}

// match reports whether code begins with the pattern, in which a negative number
// stands for any byte.
func match(code []byte, pattern ...int) bool {
	if len(code) < len(pattern) {
		return false
	}
	for i, b := range pattern {
		if b >= 0 && code[i] != byte(b) {
			return false
		}
	}
	return true
}

// isStub: larl %r1,slot; lg %r1,0(%r1); br %r1.
func isStub(code []byte) bool {
	return match(code, 0xc0, 0x10, -1, -1, -1, -1, 0xe3, 0x10, 0x10, 0x00, 0x00, 0x04, 0x07, 0xf1)
}

// isFirstStub: stg %r1,56(%r15); larl %r1,table; mvc 48(8,%r15),8(%r1);
// lg %r1,16(%r1); br %r1.
func isFirstStub(code []byte) bool {
	return match(code, 0xe3, 0x10, 0xf0, 0x38, 0x00, 0x24, 0xc0, 0x10, -1, -1, -1, -1, 0xd2, 0x07, 0xf0, 0x30, 0x10, 0x08,
		0xe3, 0x10, 0x10, 0x10, 0x00, 0x04, 0x07, 0xf1)
}

// isLazyPart: basr %r1,%r0; lgf %r1,12(%r1); jg.
func isLazyPart(code []byte) bool {
	return match(code, 0x0d, 0x10, 0xe3, 0x10, 0x10, 0x0c, 0x00, 0x14, 0xc0, 0xf4)
}

// inStub reports whether code, which begins at a pc, is the rest of a linkage
// stub.
func inStub(code []byte) bool {
	switch {
	case isStub(code), isFirstStub(code), isLazyPart(code):
		return true
	case match(code, 0xe3, 0x10, 0x10, 0x00, 0x00, 0x04, 0x07, 0xf1): // lg, br
		return len(code) > 8 && isLazyPart(code[8:])
	case match(code, 0x07, 0xf1): // br
		return isLazyPart(code[2:])
	}
	// What is left of the lazy part, or of the first stub.
	return match(code, 0xe3, 0x10, 0x10, 0x0c, 0x00, 0x14, 0xc0, 0xf4) ||
		match(code, 0xc0, 0x10, -1, -1, -1, -1, 0xd2, 0x07, 0xf0, 0x30, 0x10, 0x08) ||
		match(code, 0xd2, 0x07, 0xf0, 0x30, 0x10, 0x08, 0xe3, 0x10, 0x10, 0x10, 0x00, 0x04, 0x07, 0xf1)
}
