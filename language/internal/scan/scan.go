// Package scan looks through the memory of a process for what nothing leads to.
package scan

import "github.com/sfwalk/sfwalk/target"

const (
	window = 1 << 20 // bytes that are read at once
	page   = 4096
)

// Room is memory for what is read, which may be used again. The zero Room is ready to use. It is
// not safe for concurrent use.
type Room struct{ data []byte }

// Words calls each for parts of memory, piece by piece: data are whole words of 8 bytes, at address
// at and behind. Two words that lie side by side are in one piece at least. What cannot be read is
// left out. whole is false if there are more than most bytes: then the rest was not read.
func (r *Room) Words(m target.Memory, list []target.Mapping, most uint64, each func(at uint64, data []byte)) (whole bool) {
	if r.data == nil {
		r.data = make([]byte, window)
	}
	left := most
	for _, part := range list {
		for at := (part.Lo + 7) &^ 7; at < part.Hi; {
			if left == 0 {
				return false
			}
			p := r.data[:min(window, part.Hi-at, left)]
			n, _ := m.ReadMemory(at, p)
			n &^= 7
			if n > 0 {
				each(at, p[:n])
			}
			switch {
			case n < len(p)&^7: // beyond the page that cannot be read
				n = int((at+uint64(n))/page*page + page - at)
			case n == window && at+window < part.Hi: // two words belong together
				n -= 8
			}
			n = max(n, 8)
			at += uint64(n)
			left -= min(left, uint64(n))
		}
	}
	return true
}
