package amd64

import (
	"bytes"
	"encoding/binary"
)

// zendThreadKey implements [arch.ZendVM.ThreadKey]: mov variable(%rip),%edi, and a jump to
// pthread_getspecific.
func zendThreadKey(code []byte, start uint64) (variable uint64, ok bool) {
	if rest, is := bytes.CutPrefix(code, []byte{0xf3, 0x0f, 0x1e, 0xfa}); is { // endbr64
		code, start = rest, start+4
	}
	const length = 6
	rest, is := bytes.CutPrefix(code, []byte{0x8b, 0x3d})
	if !is || len(rest) < 5 || rest[4] != 0xe9 && rest[4] != 0xff {
		return 0, false
	}
	return start + length + uint64(int64(int32(binary.LittleEndian.Uint32(rest)))), true
}
