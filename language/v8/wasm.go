package v8

import (
	"bytes"
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// wasmLayout says where an instance of WebAssembly has what, in bytes.
type wasmLayout struct {
	table    uint64 // the address of its jump table
	imports  uint64 // an array, whose length is the count of imported functions
	slotSize int    // of the jump table, in bytes
}

// A jump table has a jump to each function of the module's own. No jump is on two lines.
const (
	lineSize  = 64
	jump      = 0xe9
	jumpSize  = 5
	mostSlots = 1 << 17
)

// wasm returns the frame of a function of WebAssembly, by its index. There may be older code of a
// function, to which no jump leads any more: then its index is not known.
func (w *walk) wasm(r *record) []language.Frame {
	h := w.heap
	pc := r.frame.AddressInBlock()
	instance := h.slot(r.at(functionAt))
	f := language.Frame{Function: "wasm-function", Kind: "wasm", Place: instance}
	table := h.field(instance, h.wasmFields.table)
	if slot, ok := h.wasmSlot(table, pc, byte(r.mark)); ok {
		length := h.field(h.field(instance, h.wasmFields.imports), 8)
		if uint32(length) == 0 { // it is a small integer
			length >>= 32
		}
		if n := uint32(length); h.OK() && n < mostSlots {
			f.Function = fmt.Sprintf("wasm-function[%d]", int(n)+slot)
			if name := h.wasmName(instance, table, n+uint32(slot)); name != "" {
				f.Function, f.Kind = name, f.Function
			}
		}
	}
	h.Err()
	return []language.Frame{f}
}

// wasmSlot returns the number of the slot that jumps to the code which an address is in.
func (h *heap) wasmSlot(table, pc uint64, mark byte) (slot int, ok bool) {
	nearest, inLine := uint64(0), lineSize/h.wasmFields.slotSize
	for i := range mostSlots {
		at := table + uint64(i/inLine*lineSize+i%inLine*h.wasmFields.slotSize)
		if !h.spend(jumpSize) || h.Uint(at, 1) != jump || !h.OK() {
			break
		}
		if to := at + jumpSize + uint64(h.Int(at+1, 4)); to <= pc && to > nearest {
			nearest, slot = to, i
		}
	}
	if nearest == 0 || pc-nearest > mostBackward || !h.OK() {
		return 0, false
	}
	// No other code begins between. The compilers begin it by a frame record, or by a call that
	// makes one, before which r12 gets a number.
	is := func(at uint64) bool {
		p := h.raw(at, 10)
		if len(p) == 0 {
			return false
		}
		return bytes.HasPrefix(p, []byte{0x55, 0x48, 0x89, 0xe5, 0x6a, mark}) || bytes.HasPrefix(p, []byte{0x55, 0x48, 0x8b, 0xec, 0x6a, mark}) ||
			bytes.HasPrefix(p, []byte{0x45, 0x31, 0xe4, 0xe8}) || bytes.HasPrefix(p, []byte{0x45, 0x33, 0xe4, 0xe8}) || bytes.HasPrefix(p, []byte{0x41, 0xbc}) && p[6] == 0xe8
	}
	for at := pc &^ (alignment - 1); at > nearest; at -= alignment {
		if is(at) || !h.OK() {
			return 0, false
		}
	}
	return slot, is(nearest)
}
