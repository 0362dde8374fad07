package arm64

import "encoding/binary"

// luajitStores implements arch.LuaJITMachine.Stores: str x, [x22, #off].
func luajitStores(code []byte, off int32) bool {
	const str, mask, base = 0xf9000000, 0xffffffe0, 22
	for ; len(code) >= 4; code = code[4:] {
		if binary.LittleEndian.Uint32(code)&mask == str|uint32(off)/8<<10|base<<5 {
			return true
		}
	}
	return false
}
