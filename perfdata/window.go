package perfdata

import (
	"cmp"
	"slices"
)

// maxWaiting bounds the bytes of records that wait for their turn.
const maxWaiting = 192 << 20

// window has the records that wait until none with an earlier time can come. perf writes what is in the ring buffers of all processors round after
// round; what a round has is later than all that was read two rounds before.
type window struct {
	list  []waiting
	bytes int
	safe  uint64 // all records up to this time were read: the latest time of the round before
	last  uint64 // the latest time so far
	given uint64 // the latest time that was given out
}

type waiting struct {
	Record
	in    *chunk
	bytes int
}

// add adds a record.
func (w *window) add(r Record, in *chunk, bytes int) {
	in.waiting++
	w.list = append(w.list, waiting{r, in, bytes})
	w.bytes += bytes
	w.last = max(w.last, r.Time)
}

// sort puts the records in the order of their times, and those of one time in that of the file.
func (w *window) sort() {
	slices.SortStableFunc(w.list, func(a, b waiting) int { return cmp.Compare(a.Time, b.Time) })
}

// upTo returns how many records have a time of at most limit. sort was called before.
func (w *window) upTo(limit uint64) int {
	n, _ := slices.BinarySearchFunc(w.list, limit, func(x waiting, limit uint64) int {
		if x.Time <= limit {
			return -1
		}
		return 1
	})
	return n
}
