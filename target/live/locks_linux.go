package live

import "github.com/sfwalk/sfwalk/arch"

// Bytes that are copied around the word for which a thread waits in futex(2): what the C libraries
// have of a lock before and behind it.
const (
	beforeFutex = 32
	behindFutex = 64
)

// copyLocks copies the locks for which threads wait, to see which thread waits for which. The
// locks' words change as soon as the threads go on.
func (s *attachment) copyLocks(leader int) {
	a := s.tracer.proc.arch
	if a.SystemCalls == nil {
		return
	}
	var want []span
	code := map[uint64][]byte{} // by PC: threads wait in few places
	for _, x := range s.tracer.tracees {
		pc, ok := x.regs.Get(a.PC)
		if !ok || x.state != stopped {
			continue
		}
		text, ok := code[pc]
		if !ok {
			text = s.systemCall(leader, pc)
			code[pc] = text
		}
		if at, ok := a.Futex(&x.regs, text); ok {
			want = append(want, locked(at.Word)...)
		}
	}
	if len(want) > 0 {
		s.copy(leader, want)
	}
}

// locked returns what to copy of the lock that has a word: up to a page's end, and from there on,
// for a page may be missing.
func locked(word uint64) []span {
	lo, hi := word-min(word, beforeFutex), word+behindFutex
	if hi < lo {
		return nil
	}
	if page := word &^ (pageSize - 1); lo < page {
		return []span{{lo, page}, {page, hi}}
	} else if page += pageSize; hi > page {
		return []span{{lo, page}, {page, hi}}
	}
	return []span{{lo, hi}}
}

// systemCall returns the code around pc that tells whether a thread is in a system call there.
func (s *attachment) systemCall(leader int, pc uint64) []byte {
	room := make([]byte, arch.SystemCallCode)
	lo := pc - uint64(len(room)/2)
	return room[:s.files.copyRange(leader, lo, room)]
}
