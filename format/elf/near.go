package elf

import (
	"sync"
	"sync/atomic"
)

// Small sections that are read one after the other lie side by side: .eh_frame behind its header,
// strings behind their symbols. So a read of few bytes has the page around them read, too, and near
// keeps it for the next one. All images share it: who looks at one file is mostly done with the one
// before.
var near struct {
	sync.Mutex
	image uint64 // the image's number; 0 for none
	off   int64  // of room in the file
	n     int    // bytes
	room  [2 * nearPage]byte
}

const nearPage = 4096

var lastImage atomic.Uint64 // numbers images

// readNear reads bytes of the file. It returns false if they are not there, many, or if somebody
// else reads now.
func (im *Image) readNear(p []byte, off int64) bool {
	if len(p) > nearPage || im.inMemory || !near.TryLock() {
		return false
	}
	defer near.Unlock()
	if at := off - near.off; near.image != im.number || at < 0 || at+int64(len(p)) > int64(near.n) {
		from := off &^ (nearPage - 1)
		room := near.room[:nearPage]
		if off+int64(len(p)) > from+nearPage {
			room = near.room[:]
		}
		near.image, near.off = im.number, from
		near.n, _ = im.raw.ReadAt(room, from)
		if off-from+int64(len(p)) > int64(near.n) {
			return false
		}
	}
	copy(p, near.room[off-near.off:])
	return true
}
