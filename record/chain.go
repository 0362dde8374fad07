package record

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfevent"
)

// usualChain is how many addresses a call chain has at most, of the kernel and of the program
// together, where the event does not say (sysctl kernel.perf_event_max_stack). mostDeferred is how
// many of the program come in a record of their own at most (UNWIND_MAX_ENTRIES in the kernel).
const (
	usualChain   = 127
	mostDeferred = 510
)

// chained appends the frames of the program, of a sample without a copy of the stack, by the
// kernel's own walk along frame pointers. Without that, there is the instruction alone.
func (e *engine) chained(s *perfevent.Sample) {
	walked := userChain(s.Chain)
	chain := walked
	if len(chain) == 0 && s.Misc&perfevent.MiscMode == perfevent.MiscUser && e.format.SampleType&perfevent.SampleIP != 0 {
		chain = []uint64{s.IP}
	}
	switch {
	case e.came == cameNever:
		e.stats.Unfollowed++
		defer e.mark("the frames of the program were to follow in another record, which has not come")
	case len(walked) > 0:
		e.stats.Unwalked++
	case len(chain) > 0:
		e.stats.Bare++
	}
	if len(chain) == 0 {
		return
	}
	p := e.process(s)
	if p == nil {
		return
	}
	for i, pc := range chain {
		if i == 0 {
			e.stack = append(e.stack, p.placeOf(pc))
		} else {
			e.stack = append(e.stack, p.callerAt(pc))
		}
	}
	if most := e.mostAddresses(s, len(chain)); most > 0 {
		e.stats.Bounded++
		e.mark(fmt.Sprintf("the kernel looks for no more than %d frames: the outer ones may be lacking", most))
	}
}

// mostAddresses returns how many addresses a call chain has at most, if the chain of a sample, with
// so many of the program, has as many; else 0.
func (e *engine) mostAddresses(s *perfevent.Sample, program int) (most int) {
	n := 0
	switch {
	case e.came == cameLater:
		n, most = program, mostDeferred
	case e.maxChain > 0:
		most = e.maxChain
	default:
		most = usualChain
	}
	if n == 0 {
		for _, pc := range s.Chain {
			if pc < perfevent.ContextMarks {
				n++
			}
		}
	}
	if n < most {
		return 0
	}
	return most
}

// callerAt returns the index of the place of a caller, by its return address. No call may be before
// it: a signal handler returns to the first instruction of the trampoline, the first function of a
// makecontext to the first instruction of another one, and code that uses the frame pointer's
// register for something else has the kernel take any word for an address. What is before a
// function's first instruction is another function, which has nothing to do with it.
func (s *space) callerAt(pc uint64) uint32 {
	slot := s.slot(pc - 1)
	if slot.used && slot.addr == pc-1 {
		return slot.index
	}
	if !s.noCallBefore(pc) && !s.trampolineAt(pc) {
		return s.placeOf(pc - 1)
	}
	id := s.placeOf(pc)
	if at := s.slot(pc); at.used && at.addr == pc && !at.next { // it is no code that comes and goes
		*slot = placeSlot{addr: pc - 1, index: id, used: true, next: true}
	}
	return id
}

// noCallBefore reports whether the code before an address is known, and does not end with a call.
func (s *space) noCallBefore(pc uint64) bool {
	if s.arch.AfterCall == nil {
		return false
	}
	var room [arch.MaxCall]byte
	code := room[:min(pc, arch.MaxCall)]
	n, _ := s.memory.ReadMemory(pc-uint64(len(code)), code)
	return n == len(code) && !s.arch.AfterCall(code)
}

// trampolineAt reports whether a signal trampoline begins at an address.
func (s *space) trampolineAt(pc uint64) bool {
	var room [32]byte
	for i := range s.arch.Trampolines {
		t := &s.arch.Trampolines[i]
		if !slices.Contains(t.PCs, 0) || len(t.Code) > len(room) {
			continue
		}
		if n, _ := s.memory.ReadMemory(pc, room[:len(t.Code)]); n == len(t.Code) && bytes.Equal(room[:n], t.Code) {
			return true
		}
	}
	return false
}
