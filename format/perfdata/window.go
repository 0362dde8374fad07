package perfdata

import (
	"cmp"
	"slices"
	"unsafe"
)

// The records that wait for their turn take at most maxWaiting bytes of memory. The records of a
// small file take at most leastWaiting bytes and some for each byte of the file.
const (
	maxWaiting   = 160 << 20
	leastWaiting = 48 << 20
	perByte      = 64
)

// window has the records that wait until none with an earlier time can come. perf writes what is in
// the ring buffers of all processors round after round; what a round has is later than all that was
// read two rounds before.
type window struct {
	list  []waiting
	bytes int    // that list and the chunks of its records take
	safe  uint64 // all records up to this time were read: the latest time of the round before
	last  uint64 // the latest time so far
	given uint64 // the latest time that was given out
}

// waiting is where a record is.
type waiting struct {
	time  uint64
	in    *chunk
	at    uint32 // in the chunk
	size  uint16 // with its header
	event uint16 // index
}

// waitingSize is what an entry takes, with the room that a list has when it grows.
const waitingSize = 3 * int(unsafe.Sizeof(waiting{}))

// add adds a record. A chunk counts whole: it is kept as long as one of its records waits.
func (w *window) add(x waiting) {
	if x.in.waiting++; x.in.waiting == 1 {
		w.bytes += len(x.in.b)
	}
	w.list = append(w.list, x)
	w.bytes += waitingSize
	w.last = max(w.last, x.time)
}

// stopsWaiting notes that a record does not wait any more, and reports whether its chunk is free.
func (w *window) stopsWaiting(x *waiting) bool {
	w.bytes -= waitingSize
	if x.in.waiting--; x.in.waiting > 0 {
		return false
	}
	w.bytes -= len(x.in.b)
	return true
}

// sort puts the records in the order of their times, and records of one time in the file's order.
func (w *window) sort() {
	slices.SortStableFunc(w.list, func(a, b waiting) int { return cmp.Compare(a.time, b.time) })
}

// upTo returns how many records have a time of at most limit. sort was called before.
func (w *window) upTo(limit uint64) int {
	n, _ := slices.BinarySearchFunc(w.list, limit, func(x waiting, limit uint64) int {
		if x.time <= limit {
			return -1
		}
		return 1
	})
	return n
}
