package java

import (
	"sync"

	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// compilation is an address in a compiled method. A virtual machine numbers what it compiles, so
// that other code in the same place has another key.
type compilation struct {
	at, lo, hi, method uint64
	number, entryBCI   int64
	pc                 uint64
}

// compilation returns the key of an address in a compiled method; ok is false if it does not tell
// the method from others that may be there later. The key has the Method in any case.
func (vm *machine) compilation(r *vmstructs.Reader, b *vmstructs.Blob, pc uint64) (key compilation, ok bool) {
	c := &vm.compiled
	key = compilation{at: b.At, lo: b.Lo, hi: b.Hi, pc: pc}
	key.method, _ = r.Pointer(b.At, c.method)
	if key.method == 0 || c.number.Size == 0 || c.entryBCI.Size == 0 {
		return key, false
	}
	number, ok := r.Number(b.At, c.number)
	entry, is := r.Number(b.At, c.entryBCI)
	key.number, key.entryBCI = number, entry
	return key, ok && is && number != 0
}

// decoded is what was read of an address in a compiled method. It never changes.
type decoded struct {
	frames []language.Frame
	in     place
	placed bool
}

// compilations are addresses in compiled methods that were decoded already. Many threads are in the
// same code, and a profiler comes again and again.
type compilations struct {
	mu    sync.RWMutex
	by    map[compilation]decoded
	count int // frames
}

// mostDecoded bounds the frames that are kept.
const mostDecoded = 1 << 16

func (k *compilations) find(key compilation) (x decoded, ok bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	x, ok = k.by[key]
	return x, ok
}

func (k *compilations) keep(key compilation, x decoded) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.count += len(x.frames); k.by == nil || k.count > mostDecoded {
		k.by, k.count = map[compilation]decoded{}, len(x.frames)
	}
	k.by[key] = x
}
