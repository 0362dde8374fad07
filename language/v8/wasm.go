package v8

import (
	"fmt"

	"github.com/sfwalk/sfwalk/language"
)

// wasmLayout says where V8's record of a piece of code of WebAssembly has what, in bytes. It begins
// with the record of its module and the address of its instructions. The sizes of its tables follow
// each other; the tables themselves are where the pointer before the size of the code leads.
type wasmLayout struct {
	size      uint64 // of the instructions, of their relocations, of positions, of what is inlined
	protected uint64 // the size of the table that comes before these
	index     uint64 // of the function
	inlined   int    // the size of what is said of each inlined call; 0 if nothing is
}

// Bounds of code of WebAssembly.
const (
	mostWasmCode = 1 << 20 // pieces that were not looked for yet, of a module
	mostDepth    = 64      // of a tree of code
)

// wasm returns the frames of a function of WebAssembly and of what was inlined there, the innermost
// first.
func (w *walk) wasm(r *record) []language.Frame {
	h := w.heap
	pc := r.frame.AddressInBlock()
	instance := h.slot(r.at(functionAt))
	module := h.module(instance)
	h.Err()
	c, ok := h.wasmCode(&module, pc)
	if h.Err() != nil || !ok {
		return []language.Frame{{Function: "wasm-function", Kind: "wasm", Place: instance}}
	}
	calls, own := h.wasmInlined(&c, pc)
	if h.Err() != nil {
		calls, own = nil, true
	}
	guess := len(calls) > 0 && r.frame.PC() == pc // it is not known where between two calls another one begins
	if own {
		calls = append(calls, c.index)
	}
	frames := make([]language.Frame, len(calls))
	for i, index := range calls {
		f := &frames[i]
		*f = language.Frame{Function: fmt.Sprintf("wasm-function[%d]", index), Kind: "wasm", Place: instance}
		if name := h.wasmName(&module, index); name != "" {
			f.Function, f.Kind = name, f.Function
		}
		if !own || i < len(calls)-1 {
			f.Kind += ", inlined"
			f.Guess = guess
		}
	}
	return frames
}

// wasmCode is a piece of code of WebAssembly.
type wasmCode struct {
	at    uint64 // V8's record of it
	lo    uint64 // its instructions
	index uint32 // of its function
}

// wasmCodeAt returns the code of a module that has a record at an address.
func (h *heap) wasmCodeAt(module, at uint64) (c wasmCode, size uint64, ok bool) {
	if at == 0 || at%8 != 0 || !h.spend(64) || h.Uint(at, 8) != module {
		return c, 0, false
	}
	c = wasmCode{at: at, lo: h.Uint(at+8, 8), index: uint32(h.Uint(at+h.wasmFields.index, 4))}
	size = h.Uint(at+h.wasmFields.size, 4)
	return c, size, h.OK() && size <= mostCode
}

// wasmCode finds the code that an address is in, of a module. V8's record of the module has all
// code in a map, by where it begins, and behind the map an array of code that is not in the map
// yet.
func (h *heap) wasmCode(m *wasmModule, pc uint64) (c wasmCode, ok bool) {
	if m.code == 0 {
		return c, false
	}
	of := func(at uint64) (is bool) {
		var size uint64
		c, size, is = h.wasmCodeAt(m.record, at)
		ok = is && pc-c.lo < size
		return is
	}
	if of(h.below(h.Uint(m.code, 8), pc, m.less)); ok {
		return c, true
	}
	lo, hi := h.Uint(m.code+m.array, 8), h.Uint(m.code+m.array+8, 8)
	if lo > hi || hi-lo > 8*mostWasmCode {
		return c, false
	}
	h.eachWord(lo, hi-lo, func(_, at uint64) bool { return of(at) && !ok })
	return c, ok
}

// In a node of a map, by the library of C++: its parent, and the nodes whose keys are less. The
// ones whose keys are greater are next to these.
const (
	gnuParent, gnuLess   = 8, 16
	llvmParent, llvmLess = 16, 0
	treeKey              = 32
	treeValue            = 40
)

// findWasmCode finds where V8's record of a module has its code: the root of a map, and the array
// behind it. They are found by what they lead to, and by the map's own form: the root leads back to
// the map. If there is no root, the map's first node is the map.
func (h *heap) findWasmCode(m *wasmModule) {
	const gnuArray, llvmArray = 32, 16
	var words []uint64
	h.eachWord(m.record, nativeModule, func(_, word uint64) bool {
		words = append(words, word)
		return true
	})
	for i := 1; i+5 < len(words) && m.code == 0 && h.spend(64); i++ {
		at, root := m.record+8*uint64(i), words[i]
		h.Err()
		switch {
		case root%8 != 0:
			continue
		case root == 0 && words[i+1] == at-8 && words[i+2] == at-8 && words[i+3] == 0, root != 0 && h.Uint(root+gnuParent, 8) == at-8:
			m.less, m.array = gnuLess, gnuArray
		case root == 0 && words[i-1] == at && words[i+1] == 0, root != 0 && h.Uint(root+llvmParent, 8) == at:
			m.less, m.array = llvmLess, llvmArray
		default:
			continue
		}
		first := h.Uint(root+treeValue, 8)
		if root == 0 {
			first = h.Uint(words[i+int(m.array)/8], 8)
		}
		if _, _, ok := h.wasmCodeAt(m.record, first); ok {
			m.code = at
		}
	}
	h.Err()
}

// below returns the value of the last key in a map that is not greater than one; 0 for none.
func (h *heap) below(node, key, less uint64) (value uint64) {
	for n := 0; node != 0 && n < mostDepth && h.spend(64) && h.OK(); n++ {
		if h.Uint(node+treeKey, 8) > key {
			node = h.Uint(node+less, 8)
			continue
		}
		value = h.Uint(node+treeValue, 8)
		node = h.Uint(node+less+8, 8)
	}
	return value
}

// wasmInlined returns the indexes of the functions that were inlined at a place in code, the
// innermost first. own reports whether the function itself is still there: a tail call leaves it.
func (h *heap) wasmInlined(c *wasmCode, pc uint64) (calls []uint32, own bool) {
	l := &h.wasmFields
	number := func(at uint64) int { return int(h.Uint(c.at+at, 4)) }
	relocation, positions, inlined := number(l.size+4), number(l.size+8), number(l.size+12)
	if l.inlined == 0 || inlined == 0 || inlined > mostTable || positions > mostTable || !h.OK() {
		return nil, true
	}
	at := h.Uint(c.at+l.size-8, 8) + uint64(number(l.protected)+relocation)
	table, list := h.raw(at, positions), h.raw(at+uint64(positions), inlined)
	word, _ := sourceAt(table, int(pc-c.lo), h.positionForm)
	tail := false
	for range mostNoted {
		const external, shift, mask = 1, 31, 1<<16 - 1
		n := int(word >> shift & mask)
		if word&external != 0 || n == 0 {
			return calls, !tail
		}
		if n*l.inlined > len(list) {
			break
		}
		entry := list[(n-1)*l.inlined:][:l.inlined]
		if !tail {
			calls = append(calls, h.Arch.Order.Uint32(entry))
		}
		tail = l.inlined > 12 && entry[4] != 0
		word = h.Arch.Order.Uint64(entry[l.inlined-8:])
	}
	h.Fail("what is inlined in the code at %#x makes no sense", c.lo)
	return nil, true
}
