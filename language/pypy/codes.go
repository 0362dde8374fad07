package pypy

import "encoding/binary"

// Bounds of the code objects of a process, and of what looks like a list of them.
const (
	mostCodes  = 1 << 20
	mostLists  = 1 << 6
	mostBroken = 1 << 6 // pointers of a list that lead nowhere
)

// byNumber returns the code object with a number, nil if it is not known. PyPy has a list of them
// for its profiler.
func (m *reader) byNumber(number uint64) *code {
	if m.all == nil {
		m.all = map[uint64]uint64{}
		m.readAll()
		m.Err()
	}
	at := m.all[number]
	if at == 0 {
		return nil
	}
	c := m.codeAt(at)
	m.Err()
	return c
}

// readAll reads the list of all code objects. It is an object that PyPy's file has, which refers to
// an array of weak references.
func (m *reader) readAll() {
	id, ok := m.types.ids[codeList]
	if !ok {
		return
	}
	tries := 0
	each(m.image, func(data []byte, at uint64) bool {
		for i := 0; i+word <= len(data); i += word {
			if binary.LittleEndian.Uint32(data[i:]) != id {
				continue
			}
			if tries++; tries > mostLists || m.readList(at+uint64(i)+m.bias) {
				return false
			}
		}
		return true
	})
}

// readList reads the list at an address; it returns false if there is none.
func (m *reader) readList(at uint64) bool {
	defer m.Err()
	handles := m.Pointer(at + m.layout.handles)
	n := m.Uint(handles+arrayLength, 8)
	if !m.OK() || n > mostCodes {
		return false
	}
	found, broken := false, 0
	for i := range n {
		if broken > mostBroken || !m.spend(1) {
			break
		}
		ref, ok := m.object(m.Reader, m.Pointer(handles+arrayItems+i*word), weakReference)
		if !ok {
			if m.Err() != nil {
				broken++
			}
			continue
		}
		if at, ok := m.object(m.Reader, m.Pointer(ref+word), pyCode); ok {
			found = true
			m.all[m.Uint(at+m.layout.number, 8)] = at
		}
		m.Err()
	}
	return found
}
