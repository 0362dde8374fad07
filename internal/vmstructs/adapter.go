package vmstructs

import "strings"

// Adapters says how adapters are known. An adapter is the code by which interpreted methods call
// compiled ones, and, behind that, the code by which compiled methods call interpreted ones. All
// methods with arguments of the same kinds have one in common.
type Adapters struct {
	name, entry Field
}

// Adapters returns how adapters are known.
func (t *Needed) Adapters() Adapters {
	return Adapters{t.Fields["CodeBlob::_name"], t.Fields["Method::_from_compiled_entry"]}
}

// Has reports whether a blob is an adapter.
func (a *Adapters) Has(r *Reader, b *Blob) bool {
	if a.name.Type == "" || b.At == 0 {
		return false
	}
	name, ok := r.Pointer(b.At, a.name)
	return ok && strings.HasPrefix(r.Name(name), "I2C/C2I adapters")
}

// Entry returns the address at which compiled code enters the adapter to call an interpreted
// method. ok is false if method is none, or is not called by this adapter.
func (a *Adapters) Entry(r *Reader, b *Blob, method uint64) (at uint64, ok bool) {
	if a.entry.Type == "" || method == 0 || method%8 != 0 {
		return 0, false
	}
	at, ok = r.Pointer(method, a.entry)
	return at, ok && at >= b.Lo && at < b.Hi
}
