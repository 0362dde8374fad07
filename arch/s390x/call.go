package s390x

// afterCall reports whether code ends with an instruction that branches and puts
// the address behind it into the link register: brasl, bras, bas, and basr,
// which with register 0 as its target does not branch.
func afterCall(code []byte) bool {
	n := len(code)
	switch {
	case n >= 6 && code[n-6] == 0xc0 && code[n-5] == 0xe5:
	case n >= 4 && code[n-4] == 0xa7 && code[n-3] == 0xe5:
	case n >= 4 && code[n-4] == 0x4d && code[n-3]>>4 == 14:
	case n >= 2 && code[n-2] == 0x0d && code[n-1]>>4 == 14 && code[n-1]&15 != 0:
	default:
		return false
	}
	return true
}
