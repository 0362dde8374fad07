package record

import "github.com/sfwalk/sfwalk/format/perfevent"

// away is a thread that has left its processor: from when on, where it was, and how it left.
type away struct {
	is    bool
	since uint64 // on the events' clock
	key   sampleKey
	stack []uint32
}

// maxAway bounds the frames of all threads that are away.
const maxAway = 1 << 22

// leave notes that the thread of a sample leaves its processor now, with e.stack. A record tells
// how.
func (e *engine) leave(s *perfevent.Sample) {
	a := e.away[s.TID]
	if a == nil {
		a = &away{}
		e.away[s.TID] = a
	}
	if e.awayFrames -= len(a.stack); len(e.stack) > maxAway-e.awayFrames {
		e.stack = e.stack[:0]
		e.mark("all frames are left out: too many threads are away from their processors")
	}
	*a = away{is: true, since: s.Time, key: sampleKey{thread: e.thread(s.PID, s.TID), tag: e.tag}, stack: append(a.stack[:0], e.stack...)}
	e.awayFrames += len(a.stack)
}

// dropAway forgets where a thread was when it left.
func (e *engine) dropAway(tid int32) {
	if a := e.away[tid]; a != nil {
		e.awayFrames -= len(a.stack)
		delete(e.away, tid)
	}
}

// switched takes the record of a switch.
func (e *engine) switched(s perfevent.Switch) {
	a := e.away[s.ID.TID]
	switch {
	case a == nil || !a.is:
	case !s.Out:
		e.comesBack(a, s.ID.Time)
	case s.Preempted:
		a.key.state = stateRunnable
	default:
		a.key.state = stateWaiting
	}
}

// comesBack counts the time that a thread was away.
func (e *engine) comesBack(a *away, now uint64) {
	if a.is = false; now > a.since {
		e.tree.add(a.key, a.stack, now-a.since)
	}
}

// allBack counts the time of threads that are away at the end of the recording.
func (e *engine) allBack(now uint64) {
	for _, a := range e.away {
		if a.is {
			e.comesBack(a, now)
		}
	}
}
