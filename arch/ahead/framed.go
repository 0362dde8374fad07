package ahead

import "github.com/sfwalk/sfwalk/arch/dataflow"

// maxFramed is how many instructions FindsFrame follows, and how many places it goes on from.
const maxFramed, maxFramedPlaces = 1 << 9, 32

// FindsFrame implements arch.Arch.FindsFrame. A function that only keeps its caller's frame pointer
// does not touch the register but to save it, to restore it, and to give it a value of its own.
func (m *Machine) FindsFrame(
	code []byte, start, pc uint64, away func(addr uint64) (code []byte, start uint64),
) (finds bool, steps int) {
	if pc < start || pc-start >= uint64(len(code)) {
		return false, 0
	}
	x := m.stepper()
	pieces := append(make([]piece, 0, maxPieces), newPiece(code, 0))
	first := place{at: int32(pc - start)}
	first.start(0, int32(m.Word))
	work := append(make([]place, 0, maxFramedPlaces), first)
	for len(work) > 0 {
		p := work[len(work)-1]
		work = work[:len(work)-1]
		for here := &pieces[p.piece]; here.holds(p.at) && p.regs[m.FP] == live(uint8(m.FP)); {
			if steps++; steps > maxFramed {
				return false, steps
			}
			here.seen[p.at/64] |= 1 << (p.at % 64)
			w := x.step(here.code, p.at, &p.state)
			if x.byFP() {
				return true, steps
			}
			switch w.kind {
			case wayOn, wayMaybe, wayCall:
				p.at = w.next
			case wayJump:
				p.at = w.target
			case wayBranch:
				if len(work) < maxFramedPlaces {
					work = append(work, place{p.piece, w.next, p.state})
				}
				p.at = w.target
			default:
				p.at = -1
				if w.kind != wayLeave || w.away == 0 || away == nil || len(pieces) == maxPieces {
					break
				}
				to := here.start + w.away
				if code, begin := away(m.Address(start + uint64(to))); len(code) > 0 {
					at := to - int64(m.Address(start+uint64(to))-begin)
					pieces = append(pieces, newPiece(code, at))
					p.piece, p.at = uint8(len(pieces)-1), int32(to-at)
					here = &pieces[p.piece]
				}
			}
			if w.kind == wayCall {
				p.kill(uint64(m.changed))
			}
		}
	}
	return false, steps
}

// holds reports whether an instruction at an offset is in the piece, and was not followed yet.
func (p *piece) holds(at int32) bool {
	return at >= 0 && int(at) < len(p.code) && p.seen[at/64]>>(at%64)&1 == 0
}

// byFP reports whether the instruction that was executed last finds some of the frame by the frame
// pointer that the search has begun with: it loads or stores what lies inward of there, takes such
// an address, or puts the stack pointer there.
func (x *stepper) byFP() bool {
	for i := range x.ops {
		o := &x.ops[i]
		switch {
		case o.Base != x.FP || o.Index != dataflow.None:
		case (o.Kind == dataflow.Load || o.Kind == dataflow.Store || o.Kind == dataflow.Sum && o.Dst != x.FP) && o.Imm < 0:
			return true
		case o.Kind == dataflow.Sum && o.Dst == x.SP:
			return true
		}
	}
	return false
}
