package frame

// A deep stack is walked twice, first to see whether all of it is of one moment. For that, no
// frames are needed beyond the ones that a stack keeps: a Walker takes a fiftieth of the time, and
// comes to the same frames.

// deeper is what a walk beyond the frames of a stack has found out.
type deeper struct {
	walker *Walker
	moved  bool // some memory is of another moment
}

// movesOnDeeper walks s up to its Limit, without making frames, and reports whether memory of
// another moment is read.
func (s *Stack) movesOnDeeper() bool {
	w := s.deeper.walker
	if w == nil {
		w = &Walker{table: s.table, arch: s.arch}
		s.deeper.walker = w
	}
	w.arch = s.arch
	w.SetModules(s.modules)
	w.stack.SearchLimit = s.SearchLimit
	c := &w.ctx
	if c.start(w.arch, s.live) != NoReason {
		return false
	}
	w.begin(c, s.window.memory)
	w.interrupted = w.interrupted[:0]
	var pcs [512]uint64
	for n, stop := 0, NoReason; stop == NoReason && !c.MovedOn && (s.Limit <= 0 || n < s.Limit); {
		room := pcs[:]
		if s.Limit > 0 {
			room = room[:min(len(room), s.Limit-n)]
		}
		var made int
		made, stop = w.resume(c, room, nil)
		if n += made; s.Deeper != nil {
			s.Deeper(n)
		}
	}
	w.stack.dropAllSlots()
	w.stack.dropSlots(&w.this)
	s.deeper.moved = c.MovedOn
	return c.MovedOn
}
