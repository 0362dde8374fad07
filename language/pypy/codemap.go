package pypy

import (
	"debug/elf"
	"encoding/binary"
)

// A skip list (rpython/jit/backend/llsupport/src/skiplist.c) has a node for each piece of compiled
// code: the address of the code, where the node's data are, and one to eight nodes that follow. The
// list's head is such a node without data.
const (
	nodeKey  = 0
	nodeData = 8
	nodeNext = 16
	mostHigh = 8
	headSize = nodeNext + mostHigh*word
)

// The data of a node (codemap_data_t): sizes of 4 bytes, and a pointer.
const (
	codeBytes = 0
	infoWords = 4
	info      = 8
)

// A part of the code that a function has has four words: the function's number, where the part
// begins and ends, and the index of the first word of what follows it and its parts.
const partWords = 4

// Bounds of what is looked through for one address.
const (
	mostDepth = 384 // as PyPy's profiler
	mostStart = 64  // nodes that tell whether a list is the one
	mostHeads = 1 << 12
	mostBSS   = 16 << 20
	mostCode  = 64 << 20 // bytes of a piece
)

// node reads a node; high is how many nodes it has that follow, 0 if it is none.
func (m *reader) node(at uint64) (key, data, high uint64) {
	key, data = m.Pointer(at+nodeKey), m.Pointer(at+nodeData)
	if high = (data - at - nodeNext) / word; key == 0 || data%word != at%word || high == 0 || high > mostHigh || !m.OK() {
		return 0, 0, 0
	}
	return key, data, high
}

// head returns the address of the list of compiled code, 0 if it is not known: there may be none.
func (m *reader) head() uint64 {
	if at := m.codemap.Load(); at != 0 || m.sought {
		return at
	}
	m.sought = true
	tries := 0
	for _, p := range m.image.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_W == 0 || p.Memsz-p.Filesz > mostBSS {
			continue
		}
		lo, hi := (p.Vaddr+p.Filesz+word-1)&^(word-1)+m.bias, p.Vaddr+p.Memsz+m.bias
		if lo >= hi {
			continue // all of it is in the file
		}
		all := make([]byte, hi-lo)
		n, _ := m.Memory().ReadMemory(lo, all)
		all = all[:n]
		for i := 0; i+headSize <= n; i += word {
			w := func(at int) uint64 { return binary.LittleEndian.Uint64(all[i+at:]) }
			if w(nodeNext) == 0 || w(nodeKey) != 0 || w(nodeData) != 0 || w(nodeNext)%word != 0 {
				continue
			}
			if tries++; tries > mostHeads {
				return 0
			}
			if m.isList(w(nodeNext)) {
				m.codemap.Store(lo + uint64(i))
				return lo + uint64(i)
			}
		}
	}
	return 0
}

// isList reports whether nodes are of compiled code.
func (m *reader) isList(at uint64) bool {
	defer m.Err()
	last := uint64(0)
	for range mostStart {
		key, data, high := m.node(at)
		if high == 0 || key <= last {
			return false
		}
		size, words := m.Uint(data+codeBytes, 4), m.Uint(data+infoWords, 4)
		if size == 0 || size > mostCode || words%partWords != 0 {
			return false
		}
		if words > 0 {
			parts := m.Pointer(data + info)
			number, begin, end, skip := m.Uint(parts, 8), m.Uint(parts+8, 8), m.Uint(parts+16, 8), m.Uint(parts+24, 8)
			return m.OK() && number%4 == 0 && begin == 0 && end > 0 && end <= size && skip >= partWords && skip <= words && skip%partWords == 0
		}
		at, last = m.Pointer(at+nodeNext), key
	}
	return false
}

// numbers returns the numbers of the functions whose code is at an address, the outermost first; ok
// is false if no compiled code is there.
func (m *reader) numbers(addr uint64) (list []uint64, ok bool) {
	at := m.head()
	if at == 0 {
		return nil, false
	}
	// The node with the largest address up to addr.
	head, high := at, uint64(mostHigh)
	for m.spend(1) {
		next := m.Pointer(at + nodeNext + (high-1)*word)
		if next != 0 && m.OK() && m.Pointer(next+nodeKey) <= addr {
			at = next
		} else if high--; high == 0 {
			break
		}
	}
	key, data, n := m.node(at)
	if at == head || n == 0 || addr-key >= m.Uint(data+codeBytes, 4) {
		m.Err()
		return nil, false
	}
	parts, words := m.Pointer(data+info), m.Uint(data+infoWords, 4)
	off, ok := m.mainPath(addr, key, m.Uint(data+codeBytes, 4), parts, words)
	if !ok {
		return nil, false
	}
	for i := uint64(0); i+partWords <= words && len(list) < mostDepth && m.OK() && m.spend(partWords); {
		part := parts + i*word
		begin, end, skip := m.Uint(part+8, 8), m.Uint(part+16, 8), m.Uint(part+24, 8)
		switch {
		case begin > off:
			return list, true
		case end > off:
			list = append(list, m.Uint(part, 8))
			i += partWords
		case skip <= i:
			return list, true
		default:
			i = skip
		}
	}
	return list, true
}

// mainPath returns how far in a piece of code the instruction is on whose behalf the one at addr
// runs. Slow ways of instructions stand behind the code of all functions, and go back there. Behind
// these stand the ways out of the code: ok is false there.
func (m *reader) mainPath(addr, key, size, parts, words uint64) (off uint64, ok bool) {
	end := uint64(0) // of the last part that ends before the piece does
	for i := uint64(0); i+partWords <= words && m.spend(partWords) && m.OK(); i += partWords {
		if at := m.Uint(parts+i*word+16, 8); at < size {
			end = max(end, at)
		}
	}
	off = addr - key
	if end == 0 || off < end {
		return off, true
	}
	code := make([]byte, min(size-off, mostPath))
	if !m.spend(len(code)) {
		return 0, false
	}
	n, _ := m.Memory().ReadMemory(addr, code)
	targets, _ := m.Arch.JumpsAway(code[:n], addr)
	for _, to := range targets {
		switch {
		case to-key >= size:
			return off, true // the function has ended here, and other code goes on
		case to < addr:
			return to - key, true
		}
	}
	return 0, false
}

// mostPath bounds the code that is read for one address, bytes.
const mostPath = 16 << 10

// compiled returns the numbers of the functions that a frame of compiled code runs, the outermost
// first. addr is where the frame is; sp is its stack pointer, as its record has it. Routines that
// such code shares are in no piece: inward of the frame is the address to which they return. ok is
// false if that is not known: the code is just being left.
func (m *reader) compiled(addr, sp uint64) (list []uint64, ok bool) {
	if list, ok = m.numbers(addr); !ok {
		list, ok = m.numbers(m.Pointer(sp - word))
	}
	m.Err()
	return list, ok
}
