package amd64

// luajitStores implements arch.LuaJITMachine.Stores: mov [r14+off], r64.
func luajitStores(code []byte, off int32) bool {
	for ; len(code) >= 7; code = code[1:] {
		if code[0]&^4 == 0x49 && code[1] == 0x89 && code[2]&0xc7 == 0x86 &&
			int32(uint32(code[3])|uint32(code[4])<<8|uint32(code[5])<<16|uint32(code[6])<<24) == off {
			return true
		}
	}
	return false
}
