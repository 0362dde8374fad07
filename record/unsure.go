package record

import (
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/target/jit"
)

// unsure is a sample with frames in code that its process may have made: the process writes later
// what was there.
type unsure struct {
	space       *space
	key         uint32 // in the tree
	time, value uint64
	frames      int
}

// maxUnsure bounds how many samples are kept until it is sure what code they are in, and
// maxUnsureFrames their frames; the oldest are named as they are.
const (
	maxUnsure       = 1 << 17
	maxUnsureFrames = 1 << 22
)

// setUnsure replaces the samples that are kept.
func (e *engine) setUnsure(list []unsure) {
	e.unsure, e.unsureFrames = list, 0
	for i := range list {
		e.unsureFrames += list[i].frames
	}
}

// keep keeps a sample, which the tree has counted, until it is sure what code it is in.
func (e *engine) keep(s *space, key uint32, value uint64) {
	for len(e.unsure) > 0 && (len(e.unsure) >= maxUnsure || e.unsureFrames+len(e.stack) > maxUnsureFrames) {
		e.setUnsure(slices.Delete(e.unsure, 0, (len(e.unsure)+1)/2))
	}
	e.unsure = append(e.unsure, unsure{s, key, s.jit.now, value, len(e.stack)})
	e.unsureFrames += len(e.stack)
}

// rename moves the samples of a process to the code that they are in by what the jitdumps tell now.
// It returns how many frames these have.
func (s *space) rename() (frames int) {
	sure := uint64(math.MaxUint64)
	for _, d := range s.jit.dumps {
		sure = min(sure, d.Last())
	}
	e := s.engine
	rest := e.unsure[:0]
	for _, u := range e.unsure {
		if u.space != s {
			rest = append(rest, u)
			continue
		}
		changed := false
		frames += u.frames
		stack := e.tree.stack(e.room[:0], u.key)
		e.room = stack
		for i, id := range stack {
			p := e.tree.places[id]
			if p.kind != placeUser || p.module != nil && !jit.IsDump(p.module.Path) {
				continue
			}
			if m := jit.At(s.jit.dumps, p.addr, u.time); m != nil && m != p.module {
				stack[i], changed = e.tree.place(place{module: m, addr: p.addr, name: p.name}), true
			}
		}
		if changed {
			u.key = e.tree.move(u.key, stack, u.value)
		}
		if u.time > sure {
			rest = append(rest, u)
		}
	}
	clear(e.unsure[len(rest):])
	e.setUnsure(rest)
	return frames
}
