package ahead

// A way says where control goes from an instruction.
type way struct {
	kind   wayKind
	next   int32 // offset of the instruction behind this one
	target int32 // offset that a jump, a branch or a call goes to; negative where it is outside the code
	// away is, of a wayLeave by a jump that says where it goes, that place's offset: it is outside
	// the code. 0 is none.
	away int64
	// cfa and link are, of a wayReturn, wayLeave or wayMaybe, THIS frame's CFA, which the return
	// tells, and the return address where that does not lie just inward of the CFA. Of a
	// wayEnd, cfa is SP.
	cfa, link value
	// equal is, of a branch that is taken unless the stack pointer sp has come to where it
	// is to be, that place: how a loop ends that touches the pages of a large frame.
	equal value
	sp    uint8
}

// wayKind is the kind of a way.
type wayKind uint8

const (
	wayOn     wayKind = iota // to the next instruction
	wayJump                  // to target
	wayBranch                // to target or on
	wayCall                  // elsewhere, and back to the next instruction
	wayReturn                // to the caller
	wayMaybe                 // to the caller, or on
	wayLeave                 // nobody knows where: to another function, which returns for this one, or on in this one
	wayEnd                   // nowhere: the thread ends
	wayStop                  // nowhere that is known
)

// Bounds of one search.
const (
	maxSteps   = 1 << 13 // instructions
	maxPending = 128     // places to go on from
	maxCalls   = 64      // on one way
	maxPieces  = 4       // pieces of code
	maxAway    = 1 << 9  // instructions in pieces that the search has not begun in
)

// A piece is code that lies together.
type piece struct {
	code  []byte
	start int64 // offset from the first piece's beginning
	seen  []uint64
}

func newPiece(code []byte, start int64) piece {
	return piece{code, start, make([]uint64, len(code)/64+1)}
}

// A place is where a way goes on.
type place struct {
	piece uint8
	at    int32
	state
}

// A search follows the ways out.
type search struct {
	step  func(code []byte, at int32, s *state) way
	loses func(at int32) uint64 // see follow
	away  func(at int64) (code []byte, start int64)
	found func(s *state, w *way, calls int) bool

	word   int32 // bytes of a word
	pieces []piece
	steps  int // instructions that were followed
	left   int // how many more may be in other pieces than the first
	// Places to go on from: now and apart have as many calls on the way as the places that are
	// followed now: now are in the first piece, apart are not. behind have one call more.
	now, apart, behind []place
}

// follow searches the ways out of the code from the instruction at offset at. It hands each way to
// found, the way with the fewest calls first, until found returns false. An end of the thread
// counts only where straight code leads to it. loses tells which registers a call of the function
// at an offset, negative where that is not known, does not preserve; away returns the code around
// an offset that is outside, and where that begins. The registers of frame point into the frame.
func (f *search) follow(code []byte, at int32, frame uint64) {
	f.pieces = append(f.pieces[:0], newPiece(code, 0))
	f.left = maxAway
	first := place{at: at}
	first.start(frame, f.word)
	f.now = append(f.now, first)
	for calls := 0; len(f.now) > 0 && calls <= maxCalls; calls++ {
		for i, j := 0, 0; i < len(f.now) || j < len(f.apart); {
			p := (*place)(nil)
			if i < len(f.now) {
				p = &f.now[i]
				i++
			} else {
				p = &f.apart[j]
				j++
			}
			if !f.from(p, calls) {
				return
			}
		}
		f.now, f.behind, f.apart = f.behind, f.now[:0], f.apart[:0]
	}
}

// from follows one way. It returns false when that was the last.
func (f *search) from(p *place, calls int) bool {
	s, at, in := p.state, p.at, p.piece
	here := &f.pieces[in]
	for ; f.steps < maxSteps; f.steps++ {
		if at < 0 || int(at) >= len(here.code) || here.seen[at/64]>>(at%64)&1 != 0 {
			return true
		}
		if in != 0 {
			if f.left <= 0 {
				return true
			}
			f.left--
		}
		here.seen[at/64] |= 1 << (at % 64)
		w := f.step(here.code, at, &s)
		switch w.kind {
		case wayOn:
			at = w.next
		case wayJump:
			at = w.target
		case wayBranch:
			s.forked = true
			if at = w.next; w.target >= 0 {
				f.fork(place{in, w.target, s})
			}
			if w.equal.kind == sum {
				s.set(w.sp, w.equal)
			}
		case wayCall:
			if len(f.behind) < maxPending {
				callee := int32(-1)
				if in == 0 {
					callee = w.target
				}
				s.kill(f.loses(callee))
				f.behind = append(f.behind, place{in, w.next, s})
			}
			return true
		case wayEnd:
			return calls != 0 || s.forked || f.found(&s, &w, calls)
		case wayReturn:
			return f.found(&s, &w, calls)
		case wayLeave:
			if !f.found(&s, &w, calls) {
				return false
			}
			if w.away != 0 {
				f.goAway(here.start+w.away, &s)
			}
			return true
		case wayMaybe:
			if !f.found(&s, &w, calls) {
				return false
			}
			at = w.next
		default:
			return true
		}
	}
	return true
}

// fork notes a place to go on from with no more calls than now.
func (f *search) fork(p place) {
	switch {
	case p.piece != 0 && len(f.apart) < maxPending:
		f.apart = append(f.apart, p)
	case p.piece == 0 && len(f.now) < maxPending:
		f.now = append(f.now, p)
	}
}

// goAway goes on with a jump to an offset, in a piece that is there already or another.
func (f *search) goAway(to int64, s *state) {
	for i := range f.pieces {
		if p := &f.pieces[i]; to >= p.start && to-p.start < int64(len(p.code)) {
			f.fork(place{uint8(i), int32(to - p.start), *s})
			return
		}
	}
	if len(f.pieces) == maxPieces || f.away == nil || f.left <= 0 {
		return
	}
	if code, start := f.away(to); to >= start && to-start < int64(len(code)) {
		f.pieces = append(f.pieces, newPiece(code, start))
		f.fork(place{uint8(len(f.pieces) - 1), int32(to - start), *s})
	}
}
