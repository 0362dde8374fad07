package record

import "github.com/sfwalk/sfwalk/target/procmaps"

// A ring that is full loses records of all kinds: also of what a process has mapped, that it runs
// another program, and of threads' names. Nothing would tell of them later. So they are asked for,
// while the processes live.

// threadName is the name of a thread.
type threadName struct {
	text  string
	stale bool // it may have another one by now
}

// askAll has all be asked for that records tell, for some were lost. Once is enough for all records
// that are read in one turn: what is asked for is as of now.
func (e *engine) askAll() {
	if e.file != nil || e.askedAll {
		return
	}
	e.askedAll = true
	for _, s := range e.spaces {
		s.ask, s.stale = true, true
	}
	for tid, name := range e.names {
		name.stale = true
		e.names[tid] = name
	}
	clear(e.threads)
}

// askAgain asks what the process has mapped now. If the memory that is open is not the one that has
// it, the process runs another program, and its files are opened again.
func (s *space) askAgain() {
	maps, err := s.host.maps(s.pid)
	if err != nil {
		return
	}
	if s.users > 1 {
		s.release(s.mapped)
		s.mapped = &mapped{users: 1}
	}
	s.set(s.engine, maps)
	if !hasCode(s.host, s.pid, maps) {
		s.host.forget(s.pid)
	}
}

// hasCode reports whether the memory of a process, if it may be read, has the code of the first file
// that is mapped.
func hasCode(h host, pid int, maps []procmaps.Mapping) bool {
	mem := h.memory(pid)
	for i := range maps {
		if m := &maps[i]; mem != nil && m.Exec && m.Read && m.Inode != 0 {
			var b [1]byte
			n, _ := mem.ReadMemory(m.Lo, b[:])
			return n == len(b)
		}
	}
	return true
}
