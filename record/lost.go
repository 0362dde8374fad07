package record

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
	e.forgetEarly() // what is not there, a new space asks for
	for tid, name := range e.names {
		name.stale = true
		e.names[tid] = name
	}
	clear(e.threads)
}

// askAgain asks what the process has mapped now. If it runs another program, its files are opened
// again.
func (s *space) askAgain() {
	if s.host.replaced(s.pid) {
		s.host.forget(s.pid)
	}
	maps, err := s.host.maps(s.pid)
	if err != nil {
		return
	}
	if s.users > 1 {
		s.release(s.mapped)
		s.mapped = &mapped{users: 1}
	}
	s.set(s.engine, maps)
}
