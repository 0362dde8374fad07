package v8

// Bounds of queues of jobs that run when JavaScript returns.
const (
	mostJobs   = 1 << 20
	mostQueues = 1 << 10
)

// Where such a queue has what, in bytes. Its jobs are in a ring.
const (
	queueSize     = 8
	queueCapacity = 16
	queueStart    = 24
	queueRing     = 32
	queueNext     = 48 // of the queues of an isolate, which are a ring, too
	queueBefore   = 56
	leastCapacity = 8
)

// jobs returns the jobs that an isolate has queued.
func (h *heap) jobs(x *isolate) (list []uint64) {
	for _, first := range x.words[firstSpaces/8:] {
		if first%8 != 0 || first < 1<<12 || first >= 1<<47 || !h.isQueue(first) {
			continue
		}
		queue := first
		for range mostQueues {
			list = h.jobsOf(queue, list)
			if queue = h.Uint(queue+queueNext, 8); queue == first || !h.isQueue(queue) {
				break
			}
		}
		return list
	}
	return nil // nothing was queued yet
}

// isQueue reports whether a queue of jobs is at an address.
func (h *heap) isQueue(at uint64) bool {
	defer h.Err()
	size, capacity, start := h.Uint(at+queueSize, 8), h.Uint(at+queueCapacity, 8), h.Uint(at+queueStart, 8)
	if capacity < leastCapacity || capacity > mostJobs || capacity&(capacity-1) != 0 || size > capacity || start >= capacity {
		return false
	}
	next, before := h.Uint(at+queueNext, 8), h.Uint(at+queueBefore, 8)
	return h.Uint(next+queueBefore, 8) == at && h.Uint(before+queueNext, 8) == at && h.OK()
}

func (h *heap) jobsOf(queue uint64, list []uint64) []uint64 {
	size, capacity, start, ring := h.Uint(queue+queueSize, 8), h.Uint(queue+queueCapacity, 8), h.Uint(queue+queueStart, 8), h.Uint(queue+queueRing, 8)
	for i := uint64(0); i < size && len(list) < mostJobs && h.OK(); i++ {
		list = append(list, h.Uint(ring+8*((start+i)%capacity), 8))
	}
	return list
}
