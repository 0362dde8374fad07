package v8

import (
	"sync"

	"github.com/sfwalk/sfwalk/language"
)

// kept is what is kept from one stack to the next, for who asks again and again. Objects move and
// die: what is kept of a function holds as long as the object that tells of it has the same bytes.
type kept struct {
	mu        sync.Mutex
	functions map[uint64]keptFunction
	frames    map[frameKey]language.Frame
	shared    map[uint64]uint64 // SharedFunctionInfos by their bytecode
	codes     map[uint64]uint64 // where code begins, by an address in it
	plain     map[uint64][mapSize]byte
}

// mapSize is how much of a Map says where its objects have their properties, in bytes.
const mapSize = 56

// sharedSize is how much of a SharedFunctionInfo says what the function is, in bytes.
const sharedSize = 64

type keptFunction struct {
	bytes [sharedSize]byte
	function
}

// frameKey tells a frame from others. The class depends on the Map of "this".
type frameKey struct {
	function     function
	object, this uint64
	offset       int
	kind         string
	constructor  bool
	guess, later bool
}

// mostKeptFrames bounds what is kept of each kind.
const mostKeptFrames = 1 << 14

// functionOf returns what is kept of a function if it still holds.
func (k *kept) functionOf(shared uint64, bytes *[sharedSize]byte) (f function, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x, ok := k.functions[shared]
	return x.function, ok && x.bytes == *bytes
}

func (k *kept) keepFunction(shared uint64, bytes *[sharedSize]byte, f function) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.functions == nil || len(k.functions) >= mostKeptFrames {
		k.functions = map[uint64]keptFunction{}
	}
	k.functions[shared] = keptFunction{*bytes, f}
}

// isPlain reports whether a Map is kept as one of functions without a name of their own. If it is
// not, and plain is true, it is from now on.
func (k *kept) isPlain(m uint64, bytes *[mapSize]byte, plain bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if had, ok := k.plain[m]; ok && had == *bytes {
		return true
	}
	if plain {
		if k.plain == nil || len(k.plain) >= mostKeptFrames {
			k.plain = map[uint64][mapSize]byte{}
		}
		k.plain[m] = *bytes
	}
	return plain
}

func (k *kept) frame(key *frameKey) (f language.Frame, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok = k.frames[*key]
	return f, ok
}

func (k *kept) keepFrame(key *frameKey, f language.Frame) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.frames == nil || len(k.frames) >= mostKeptFrames {
		k.frames = map[frameKey]language.Frame{}
	}
	k.frames[*key] = f
}

// sharedOf returns the SharedFunctionInfo that had a bytecode; 0 if none is known.
func (k *kept) sharedOf(bytecode uint64) uint64 {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shared[bytecode]
}

func (k *kept) keepShared(bytecode, shared uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shared == nil || len(k.shared) >= mostKeptFrames {
		k.shared = map[uint64]uint64{}
	}
	k.shared[bytecode] = shared
}

// codeOf returns where the code began that had an address; 0 if that is not known.
func (k *kept) codeOf(pc uint64) uint64 {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.codes[pc]
}

func (k *kept) keepCode(pc, lo uint64) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.codes == nil || len(k.codes) >= mostKeptFrames {
		k.codes = map[uint64]uint64{}
	}
	k.codes[pc] = lo
}
