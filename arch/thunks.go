package arch

// Thunks returns what tells whether a thunk's code begins at an address (cfi.Options.Thunk); nil if the processor has
// no thunks. read reads code at an address, and returns how many bytes it has read.
func (a *Arch) Thunks(read func(addr uint64, p []byte) int) func(addr uint64) bool {
	if a.ThunkBegins == nil {
		return nil
	}
	return func(addr uint64) bool {
		code, at := ThunkCode(addr, read)
		return at > 0 && at < len(code) && a.ThunkBegins(code[:at], code[at:])
	}
}

// ThunkCode reads the code around the address at which a thunk's may begin, which is code[at:]: as much as ThunkBegins
// and Thunk look at.
func ThunkCode(addr uint64, read func(addr uint64, p []byte) int) (code []byte, at int) {
	const half = 16
	code = make([]byte, 2*half)
	for at = half; at > 0; at-- { // less where a section begins
		if n := read(addr-uint64(at), code[:at+half]); n > at {
			return code[:n], at
		}
	}
	return nil, 0
}
