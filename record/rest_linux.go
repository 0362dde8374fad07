package record

import "github.com/sfwalk/sfwalk/target/live"

// rest is what is known of a thread that sleeps. As long as it has got no processor since, its
// stack is the one of its last sample: it need not be stopped. When it sleeps once more, the stack
// is that one if all is the same by which it was found.
type rest struct {
	seen       live.Seen // when the thread slept
	space      *space
	generation int // of space
	tree       *tree
	key        uint32      // of the last sample, in tree
	whole      bool        // its stack was whole
	reads      *live.Reads // by which the stack was found; nil if that is not known
}

// holds reports whether a stack would still have the same places and names.
func (r *rest) holds(w *wall, p *space) bool {
	return r.space == p && r.generation == p.generation && r.tree == w.tree && p.steady()
}

// mostWatched bounds the threads whose files are kept open.
const mostWatched = 512

// mostReads bounds the threads of which is kept what was read, up to 32 KiB each.
var mostReads = 512

// mostOwnTurns is how many times a thread that sleeps gets a processor because it is stopped: it
// comes to its stop, and goes back to sleep, each with a turn to spare.
const mostOwnTurns = 4

// look looks at the threads of a process without stopping them. resting are the ones whose stacks
// are known.
func (w *wall) look(pid int) (seen map[int]live.Seen, resting map[int]bool) {
	tids := live.Tasks(pid)
	seen, resting = make(map[int]live.Seen, len(tids)), map[int]bool{}
	p := w.spaces[int32(pid)]
	for _, tid := range tids {
		s, ok := w.watch.Look(pid, tid)
		if !ok {
			continue
		}
		seen[tid] = s
		r := w.rests[int32(tid)]
		if r == nil {
			continue
		}
		switch {
		case r.seen.Name != s.Name || r.seen.Begun != s.Begun || p == nil || !r.holds(w, p):
			w.forgetRest(int32(tid))
		case r.seen.Turns == s.Turns:
			resting[tid] = true
		}
	}
	return seen, resting
}

// forgetRest forgets that a thread sleeps, and what was read of it.
func (w *wall) forgetRest(tid int32) {
	if r := w.rests[tid]; r != nil && r.reads != nil {
		w.reads--
	}
	delete(w.rests, tid)
}

// steady reports whether a stack that was walked before would be the same now, with the same names.
func (s *space) steady() bool {
	return !s.stale && (s.languages.failed == "" || s.languages.tries >= mostTries)
}

// takeResting counts samples of threads that rest, but of threads that were forgotten since look.
func (w *wall) takeResting(seen map[int]live.Seen, resting map[int]bool, since func(tid int32) uint64) {
	for tid := range resting {
		r := w.rests[int32(tid)]
		if r == nil || r.tree != w.tree {
			continue
		}
		w.stats.Samples++
		if r.whole {
			w.stats.Whole++
		} else {
			w.stats.Stopped++
		}
		w.tree.again(r.key, stateOf(seen[tid].State), since(int32(tid)))
	}
}

// mayRest notes that a thread rests from now on, if it does. key is of the sample that was just
// taken, without a stop if sleeper is not nil.
func (w *wall) mayRest(p *space, th *live.Thread, sleeper *live.Sleeper, now live.Seen, key uint32, whole bool) {
	tid := int32(th.ID())
	before, known := w.turns[tid]
	w.turns[tid] = now.Turns
	if s := stateOf(now.State); s != stateSleeping && s != stateDisk || now.Turns == 0 || sleeper == nil && known && now.Turns-before > mostOwnTurns {
		return // it takes time to find out, and would be for nothing
	}
	if p.jit.doubt || th.Err != nil || w.tree.keys[key].cut {
		return // it may have other names later
	}
	var turns uint64
	var reads *live.Reads
	if sleeper != nil {
		turns = sleeper.Turns
		if len(p.named.by) == 0 { // else others have names for its frames
			reads = sleeper.Reads()
		}
	} else if rested, ok := th.Rests(); ok {
		turns = rested
	} else {
		return
	}
	now.Turns = turns
	w.forgetRest(tid)
	if w.reads >= mostReads {
		reads = nil
	} else if reads != nil {
		w.reads++
	}
	w.rests[tid] = &rest{seen: now, space: p, generation: p.generation, tree: w.tree, key: key, whole: whole, reads: reads}
}
