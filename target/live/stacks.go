package live

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

const (
	firstCopy   = 64 << 10  // copied of a stack while its thread alone is held
	stackCopy   = 1 << 20   // copied of it while all threads are held
	stackLimit  = 8 << 20   // a mapping that goes on for longer above SP is no thread's stack alone
	stackWindow = 256 << 10 // copied of such a one
	copyLimit   = 512 << 20 // all copies together that are kept, where nobody says otherwise
	passLimit   = 16 << 20  // those that are not, beside them
	// Of a target that is to be sparing:
	lowMemoryFirst = 64 << 20  // all copies that are made at first
	lowMemoryLimit = 96 << 20  // all copies together
	spareKeep      = 8 << 20   // copies of one thread that are kept
	guardGap       = 1 << 20   // an SP this far below a stack has overflown it
	ucontextSpan   = 256 << 10 // searched for a signal frame, above SP
	frameLimit     = 4 << 10   // a signal frame without a ucontext is smaller: s390x's has a kilobyte
	maxSwitches    = 4         // alternate stacks within one another
)

// What sigaltstack(2) may have been told.
const (
	ssOnStack    = 1
	ssAutodisarm = 1 << 31
)

// stackSpan returns the used part of the stack that sp points into: from the
// red zone below it to the end of its mapping, or most bytes of it. Where that mapping goes on for too long to be a stack alone (a heap that
// holds many, as Go's) that is less.
func stackSpan(maps []procmaps.Mapping, sp, redZone, most uint64) (span, bool) {
	i, holds := procmaps.Find(maps, sp)
	if holds && !maps[i].Read { // an overflown stack: sp is in the guard below it
		i, holds = i+1, false
	}
	if i >= len(maps) || !maps[i].Read || !holds && maps[i].Lo-sp > guardGap {
		return span{}, false
	}
	s := span{max(maps[i].Lo, sp-min(sp, redZone)), maps[i].Hi}
	main := maps[i].Path == "[stack]"
	for i++; main && i < len(maps) && maps[i].Lo == s.hi && maps[i].Path == "[stack]" && maps[i].Read; i++ {
		s.hi = maps[i].Hi // mprotect has split it
	}
	if !main && s.hi-s.lo > stackLimit {
		s.hi = s.lo + stackWindow
	}
	s.hi = s.lo + min(s.hi-s.lo, most)
	return s, true
}

// fit cuts spans from above until they are limit bytes at most.
func fit(spans []span, limit uint64) {
	for _, most := range [...]uint64{1 << 63, stackWindow, limit / uint64(len(spans)+1) &^ (pageSize - 1)} {
		total := uint64(0)
		for i, s := range spans {
			spans[i].hi = s.lo + min(s.hi-s.lo, most)
			total += min(s.hi-s.lo, most)
		}
		if total <= limit {
			return
		}
	}
}

// interruptedSP looks for a signal frame on the stack that sp points to: of a handler that runs
// on an alternate stack. The interrupted SP is elsewhere then, on a stack: as far as maps, which
// may be nil, tell. stack is the memory from sp on.
//
// The kernel's struct ucontext tells where the alternate stack is, which must hold both sp and
// the ucontext. A frame without one, which was made where the interrupted SP is, has that right behind it.
func interruptedSP(a *arch.Arch, maps []procmaps.Mapping, sp uint64, stack []byte) (uint64, bool) {
	uc := a.UContext
	end := max(uc.StackBase, uc.StackSize, uc.SP) + 8
	stack = stack[:min(len(stack), ucontextSpan)]
	for off := int(-sp & 7); off+end <= len(stack); off += 8 {
		if a.SigContext != nil {
			if v, ok := a.SigContext(sp+uint64(off), stack[off:]); ok && v != 0 && v-sp > uint64(off)+frameLimit && mayBeStack(maps, v) {
				return v, true
			}
		}
		base := a.Order.Uint64(stack[off+uc.StackBase:])
		if sp < base {
			continue
		}
		// The ss_flags between them: what other memory has there is hardly ever one of these.
		if f := a.Order.Uint32(stack[off+uc.StackBase+8:]); f&^ssAutodisarm > ssOnStack {
			continue
		}
		size := a.Order.Uint64(stack[off+uc.StackSize:])
		if at := sp + uint64(off); size > 1<<32 || at+uint64(end)-base > size {
			continue
		}
		// A handler within a handler on the same stack: the outer one's frame follows.
		if v := a.Order.Uint64(stack[off+uc.SP:]); v != 0 && v-base > size && mayBeStack(maps, v) {
			return v, true
		}
	}
	return 0, false
}

// mayBeStack reports whether a stack pointer may point to an address: to what is written to,
// and is no program's code. An overflown stack's points to what is not mapped, or to a guard.
func mayBeStack(maps []procmaps.Mapping, sp uint64) bool {
	i, ok := procmaps.Find(maps, sp)
	return !ok || !maps[i].Read || maps[i].Write && !(maps[i].Exec && maps[i].IsFile())
}
