package record

import "github.com/sfwalk/sfwalk/format/perfevent"

// offCPU is a thread that is off the processors: from when on, where it was, and how it left.
type offCPU struct {
	off   bool
	since uint64 // on the events' clock
	key   sampleKey
	stack []uint32
}

// maxOffFrames bounds the frames of all threads that are away.
const maxOffFrames = 1 << 22

// leave notes that the thread of a sample leaves its processor now, with e.stack. A record tells
// how.
func (e *engine) leave(s *perfevent.Sample) {
	a := e.offCPU[s.TID]
	if a == nil {
		a = &offCPU{}
		e.offCPU[s.TID] = a
	}
	if e.offFrames -= len(a.stack); len(e.stack) > maxOffFrames-e.offFrames {
		e.stack = e.stack[:0]
		e.mark("all frames are left out: too many threads are away from their processors")
	}
	*a = offCPU{off: true, since: s.Time, key: sampleKey{thread: e.thread(s.PID, s.TID), tag: e.tag}, stack: append(a.stack[:0], e.stack...)}
	e.offFrames += len(a.stack)
}

// dropOffCPU forgets where a thread was when it left.
func (e *engine) dropOffCPU(tid int32) {
	if a := e.offCPU[tid]; a != nil {
		e.offFrames -= len(a.stack)
		delete(e.offCPU, tid)
	}
}

// switched takes the record of a switch.
func (e *engine) switched(s perfevent.Switch) {
	a := e.offCPU[s.ID.TID]
	switch {
	case a == nil || !a.off:
	case !s.Out:
		e.comesBack(a, s.ID.Time)
	case s.Preempted:
		a.key.state = stateRunnable
	default:
		a.key.state = stateWaiting
	}
}

// comesBack counts the time that a thread was away.
func (e *engine) comesBack(a *offCPU, now uint64) {
	a.off = false
	if since := max(a.since, e.from); now > since {
		e.tree.add(a.key, a.stack, now-since)
	}
}

// allBack counts the time of threads that are away at the end of the recording.
func (e *engine) allBack(now uint64) {
	for _, a := range e.offCPU {
		if a.off {
			e.comesBack(a, now)
		}
	}
}
