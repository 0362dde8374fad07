package dotnet

import (
	"strings"

	"github.com/sfwalk/sfwalk/language"
)

// From .NET 9 on, a lock may be an object of a class of its own. Who waits for it is in one of its
// methods, whose frame has the object.
const (
	lockType    = "System.Threading.Lock"
	lockWaits   = lockType + ".TryEnterSlow"
	lockAttempt = lockType + ".TryEnter" // and what begins so: they give up
	lockOwner   = "_owningThreadId"
	mostOfFrame = 64 // words of a frame that are looked at
)

// waitsForLock returns the System.Threading.Lock for which a thread waits.
func (o *shapes) waitsForLock(s *language.Stack, groups []language.Group) (lock language.Lock, ok bool) {
	for i := range groups {
		if groups[i].Frames[0].Function != lockWaits {
			continue
		}
		at := o.lockIn(s, groups[i].Anchor.Level)
		if at == 0 {
			return lock, false
		}
		lock = language.Lock{Kind: "Lock", Address: at, Level: -1}
		lock.Timed = i+1 < len(groups) && strings.HasPrefix(groups[i+1].Frames[0].Function, lockAttempt)
		if offset, ok := o.field(o.object(at), lockOwner); ok {
			lock.Owner = int(o.half(at + offset)) // the system's ID, as the process sees it
		}
		return lock, true
	}
	return lock, false
}

// lockIn returns the address of the one such lock that the frame of a level has in its registers or
// on its stack; 0 if there is none, or more than one.
func (s *shapes) lockIn(stack *language.Stack, level int) (found uint64) {
	f := stack.Frames[level]
	var words []uint64
	for _, reg := range stack.Arch.OtherCalleeSaved {
		if v := f.Register(reg); v.Known() {
			words = append(words, v.Bits)
		}
	}
	sp, cfa := f.Register(stack.Arch.SP), uint64(0)
	if at, ok := f.CFA(); ok {
		cfa = at
	}
	for at := sp.Bits; sp.Known() && at < cfa && len(words) < mostOfFrame; at += wordSize {
		words = append(words, s.word(at))
	}
	for _, w := range words {
		if t := s.object(w); t == nil || t.name != lockType || !t.own || w == found {
			continue
		}
		if found != 0 {
			return 0
		}
		found = w
	}
	return found
}
