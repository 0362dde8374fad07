package ahead

// A Way says where control goes from an instruction.
type Way struct {
	Kind   Kind
	Next   int32 // offset of the instruction behind this one
	Target int32 // offset that a Jump, a Branch or a Call goes to; negative where it is outside the code
	// CFA and Link are, of a Return, Leave or Maybe, THIS frame's CFA, which the return
	// tells, and the return address where that does not lie just inward of the CFA. Of an
	// End, CFA is SP.
	CFA, Link Value
	// Equal is, of a Branch that is taken unless the stack pointer SP has come to where it
	// is to be, that place: how a loop ends that touches the pages of a large frame.
	Equal Value
	SP    uint8
}

// Kind is the kind of a [Way].
type Kind uint8

const (
	On     Kind = iota // to the next instruction
	Jump               // to Target
	Branch             // to Target or on
	Call               // elsewhere, and back to the next instruction
	Return             // to the caller
	Maybe              // to the caller, or on
	Leave              // nobody knows where: to another function, which returns for this one, or on in this one
	End                // nowhere: the thread ends
	Stop               // nowhere that is known
)

// Bounds of one search.
const (
	maxSteps   = 1 << 13 // instructions
	maxPending = 128     // places to go on from
	maxCalls   = 64      // on one way
)

// A place is where a way goes on.
type place struct {
	at int32
	State
}

// follow searches the ways out of size bytes of code from the instruction at offset at. It
// hands each to found, those with the fewest calls first, until found returns false. An end
// of the thread counts only where straight code leads to it. loses tells which registers a
// call of the function at an offset, negative where that is not known, does not preserve.
// The registers of frame point into the frame. follow returns how many instructions it has
// followed.
func follow(size int, at int32, frame uint64, step func(at int32, s *State) Way, loses func(at int32) uint64, found func(s *State, w *Way, calls int) bool) (steps int) {
	seen := make([]uint64, size/64+1)
	first := place{at: at}
	first.start(frame)
	now, behind := []place{first}, []place(nil) // behind one call more
	for calls := 0; len(now) > 0 && calls <= maxCalls; calls++ {
		for i := 0; i < len(now); i++ {
			p := &now[i]
			s, at := p.State, p.at
			for ; steps < maxSteps; steps++ {
				if at < 0 || int(at) >= size || seen[at/64]>>(at%64)&1 != 0 {
					break
				}
				seen[at/64] |= 1 << (at % 64)
				w := step(at, &s)
				end := false
				switch w.Kind {
				case On:
					at = w.Next
				case Jump:
					at = w.Target
				case Branch:
					s.forked = true
					if at = w.Next; w.Target >= 0 && len(now) < maxPending {
						now = append(now, place{w.Target, s})
					}
					if w.Equal.kind == sum {
						s.Set(w.SP, w.Equal)
					}
				case Call:
					if end = true; len(behind) < maxPending {
						s.Kill(loses(w.Target))
						behind = append(behind, place{w.Next, s})
					}
				case End:
					if end = true; calls == 0 && !s.forked && !found(&s, &w, calls) {
						return steps
					}
				case Return, Leave, Maybe:
					if !found(&s, &w, calls) {
						return steps
					}
					at, end = w.Next, w.Kind != Maybe
				default:
					end = true
				}
				if end {
					break
				}
			}
		}
		now, behind = behind, now[:0]
	}
	return steps
}
