package amd64

// callTarget implements arch.Arch.CallTarget: call rel32 alone says where it goes.
func callTarget(code []byte, ra uint64) (target uint64, ok bool) {
	n := len(code)
	if n < 5 || code[n-5] != 0xe8 {
		return 0, false
	}
	return ra + uint64(int64(int32(uint32(code[n-4])|uint32(code[n-3])<<8|uint32(code[n-2])<<16|uint32(code[n-1])<<24))), true
}
