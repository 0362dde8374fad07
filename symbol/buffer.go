package symbol

import "sync"

// Room for bytes that are needed for a moment. It is used again.
type (
	smallBuffer [16 << 10]byte
	largeBuffer [256 << 10]byte
)

var (
	smallBuffers = sync.Pool{New: func() any { return new(smallBuffer) }}
	largeBuffers = sync.Pool{New: func() any { return new(largeBuffer) }}
)

// borrow returns room for n bytes, or as much as there is. The caller gives it back.
func borrow(n uint64) []byte {
	if n <= uint64(len(smallBuffer{})) {
		return smallBuffers.Get().(*smallBuffer)[:]
	}
	return largeBuffers.Get().(*largeBuffer)[:]
}

func giveBack(room []byte) {
	if len(room) == len(smallBuffer{}) {
		smallBuffers.Put((*smallBuffer)(room))
	} else {
		largeBuffers.Put((*largeBuffer)(room))
	}
}
