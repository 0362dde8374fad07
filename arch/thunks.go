package arch

import "sync"

// Thunks returns a function that tells whether a thunk's code begins at an address
// (cfi.Options.Thunk); nil if the processor has no thunks. read reads code at an address, and
// returns how many bytes it has read.
func (a *Arch) Thunks(read func(addr uint64, p []byte) int) func(addr uint64) bool {
	if a.ThunkBegins == nil {
		return nil
	}
	return func(addr uint64) bool {
		room := thunkRoom.Get().(*[2 * thunkHalf]byte)
		defer thunkRoom.Put(room)
		code, at := readThunk(addr, read, room[:])
		return at > 0 && at < len(code) && a.ThunkBegins(code[:at], code[at:])
	}
}

// thunkHalf is how many bytes are read on both sides of an address. thunkRoom has room for both:
// many addresses are asked about.
const thunkHalf = 16

var thunkRoom = sync.Pool{New: func() any { return new([2 * thunkHalf]byte) }}

// ThunkCode reads the code around addr, at which a thunk may begin: as much as ThunkBegins and
// Thunk look at. The code from addr on is code[at:].
func ThunkCode(addr uint64, read func(addr uint64, p []byte) int) (code []byte, at int) {
	return readThunk(addr, read, make([]byte, 2*thunkHalf))
}

func readThunk(addr uint64, read func(addr uint64, p []byte) int, code []byte) ([]byte, int) {
	for at := thunkHalf; at > 0; at-- { // less where a section begins
		if n := read(addr-uint64(at), code[:at+thunkHalf]); n > at {
			return code[:n], at
		}
	}
	return nil, 0
}
