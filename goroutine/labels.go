package goroutine

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/sfwalk/sfwalk/target"
)

// Label is what runtime/pprof.Do and SetGoroutineLabels attach to a goroutine, for profiles. A
// goroutine begins with the labels of the goroutine that has created it.
type Label struct{ Key, Value string }

// labelsBehind is the offset from startpc of the pointer to the labels in all releases: racectx,
// waiting and the slice cgoCtxt are between.
const labelsBehind = 48

// waitingBehind is the offset from startpc of the pointer to the first sudog.
const waitingBehind = 16

// Bounds of labels.
const (
	maxLabels     = 64      // of a goroutine; the others are left out
	maxLabelText  = 1 << 10 // bytes of a key or value that are read
	maxLabelBytes = 4 << 20 // of all sets of a list together
)

// labelSets reads sets of labels, each once, for many goroutines share one.
type labelSets struct {
	memory target.Memory
	order  binary.ByteOrder
	known  map[uint64][]Label
	bytes  int // of all texts
}

// read returns the labels at an address: since Go 1.24, a slice of pairs of strings, in the order
// of their keys. It returns nil if there is something else, such as the map of an earlier release.
func (s *labelSets) read(at uint64) []Label {
	if at == 0 {
		return nil
	}
	list, ok := s.known[at]
	if !ok && s.bytes < maxLabelBytes {
		list = s.set(at)
		if s.known == nil {
			s.known = map[uint64][]Label{}
		}
		s.known[at] = list
	}
	return list
}

func (s *labelSets) set(at uint64) (list []Label) {
	var header [24]byte
	if !s.fill(at, header[:]) {
		return nil
	}
	h := words{at, header[:], s.order}
	first, n, room := h.word(0), h.word(8), h.word(16)
	if n == 0 || n > room || room > 1<<16 || first%8 != 0 {
		return nil
	}
	pairs := make([]byte, 32*min(n, maxLabels))
	if !s.fill(first, pairs) {
		return nil
	}
	p := words{first, pairs, s.order}
	for i := int64(0); i < int64(len(pairs)); i += 32 {
		key, ok := s.text(p.word(i), p.word(i+8))
		value, well := s.text(p.word(i+16), p.word(i+24))
		if !ok || !well || len(list) > 0 && list[len(list)-1].Key >= key {
			return nil
		}
		list = append(list, Label{key, value})
	}
	return list
}

// text reads a string. It is cut if it is too long, and no text if it is no UTF-8.
func (s *labelSets) text(at, n uint64) (string, bool) {
	if n > 1<<24 {
		return "", false
	}
	data := make([]byte, min(n, maxLabelText))
	s.bytes += len(data) + 32
	if !s.fill(at, data) {
		return "", false
	}
	if n > maxLabelText {
		for cut := 0; cut < utf8.UTFMax && !utf8.Valid(data); cut++ {
			data = data[:len(data)-1]
		}
		return string(data) + "…", utf8.Valid(data)
	}
	return string(data), utf8.Valid(data)
}

func (s *labelSets) fill(at uint64, p []byte) bool {
	n, _ := s.memory.ReadMemory(at, p)
	return n == len(p)
}
