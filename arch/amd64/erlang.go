package amd64

import "bytes"

// erlangToC implements arch.ErlangCode.ToC: lea rsp, [rbx-inward] is the change, and mov rbp, rsp
// stands before it, but for a store of the reductions, if rbp has the stack pointer of Erlang.
func erlangToC(code []byte, inward uint64) (at int, saved, ok bool) {
	const storeFCalls = 4 // mov [r13+offset], r14
	change := []byte{0x48, 0x8d, 0x63, byte(-inward)}
	if inward > 128 {
		change = []byte{0x48, 0x8d, 0xa3, byte(-inward), byte(-inward >> 8), byte(-inward >> 16), byte(-inward >> 24)}
	}
	if at = bytes.LastIndex(code, change); at < 0 {
		return 0, false, false
	}
	before := code[:at]
	if n := len(before); n >= storeFCalls && before[n-4] == 0x4d && before[n-3] == 0x89 && before[n-2] == 0x75 {
		before = before[:n-storeFCalls]
	}
	saved = bytes.HasSuffix(before, []byte{0x48, 0x89, 0xe5}) || bytes.HasSuffix(before, []byte{0x48, 0x8b, 0xec})
	return at, saved, true
}
