package live

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

const (
	firstCopy   = 64 << 10  // bytes copied of a stack while its thread alone is held
	stackCopy   = 1 << 20   // bytes copied of a stack while all threads are held
	stackLimit  = 8 << 20   // a mapping that goes on above SP for more bytes is not only a thread's stack
	stackWindow = 256 << 10 // bytes copied of such a mapping
	copyLimit   = 512 << 20 // all copies together that are kept, by default
	passLimit   = 16 << 20  // copies that are not kept, in addition
	// With Options.LowMemory:
	lowMemoryFirst = 64 << 20  // all copies that are made at first
	lowMemoryLimit = 96 << 20  // all copies together
	spareKeep      = 8 << 20   // copies of one thread that are kept
	guardGap       = 1 << 20   // an SP this far below a stack has overflown it
	ucontextSpan   = 256 << 10 // bytes above SP that are searched for a signal frame
	frameLimit     = 4 << 10   // the largest signal frame without a ucontext, bytes; s390x's has a kilobyte
	maxSwitches    = 4         // alternate stacks, each used on top of the one before
)

// stackSpan returns the used part of the stack that sp points into: from the red zone below sp to
// the end of its mapping, or most bytes of it. It returns less if the mapping goes on for too long
// to be one stack (a heap that holds many, as Go's).
func stackSpan(maps []procmaps.Mapping, sp, redZone, most uint64) (span, bool) {
	i, holds := procmaps.Find(maps, sp)
	if holds && !maps[i].Read { // sp has overflown the stack into the guard below it
		i, holds = i+1, false
	}
	if i >= len(maps) || !maps[i].Read || !holds && maps[i].Lo-sp > guardGap {
		return span{}, false
	}
	s := span{max(maps[i].Lo, sp-min(sp, redZone)), maps[i].Hi}
	main := maps[i].Path == "[stack]"
	for i++; main && i < len(maps) && maps[i].Lo == s.hi && maps[i].Path == "[stack]" && maps[i].Read; i++ {
		s.hi = maps[i].Hi // mprotect has split the stack's mapping
	}
	if !main && s.hi-s.lo > stackLimit {
		s.hi = s.lo + stackWindow
	}
	s.hi = s.lo + min(s.hi-s.lo, most)
	return s, true
}

// fit shortens spans at their upper ends until they have at most limit bytes together.
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

// interruptedSP looks for the signal frame of a handler that runs on an alternate stack, the one
// that sp points into. The interrupted SP is then on another stack, as far as maps, which may be
// nil, tell. stack is the memory from sp on.
//
// The kernel's struct ucontext tells where the alternate stack is, which must hold both sp and the
// ucontext. A signal frame without a ucontext says nothing of that; if it lies on the interrupted
// stack itself, the interrupted SP is right behind it, and it does not count.
func interruptedSP(a *arch.Arch, maps []procmaps.Mapping, sp uint64, stack []byte) (uint64, bool) {
	end := a.UContextEnd()
	stack = stack[:min(len(stack), ucontextSpan)]
	for off := int(-sp & uint64(a.PtrSize-1)); off+end <= len(stack); off += a.PtrSize {
		if a.SigContext == nil {
			if off = a.SeekAlternateStack(sp, off, stack); off+end > len(stack) {
				break
			}
		} else if v, ok := a.SigContext(sp+uint64(off), stack[off:]); ok && v != 0 && v-sp > uint64(off)+frameLimit && mayBeStack(maps, v) {
			return v, true
		}
		base, size, ok := a.AlternateStack(sp, off, stack)
		if !ok {
			continue
		}
		// If a handler interrupted a handler on the same stack, the outer one's frame follows.
		if v := a.Word(stack[off+a.UContext.SP:]); v != 0 && v-base > size && mayBeStack(maps, v) {
			return v, true
		}
	}
	return 0, false
}

// mayBeStack reports whether a stack pointer may point to sp: to memory that is written to and is
// no program's code. The SP of an overflown stack points to unmapped memory, or to a guard.
func mayBeStack(maps []procmaps.Mapping, sp uint64) bool {
	i, ok := procmaps.Find(maps, sp)
	return !ok || !maps[i].Read || maps[i].Write && !(maps[i].Exec && maps[i].IsFile())
}
