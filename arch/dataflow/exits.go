package dataflow

import "github.com/sfwalk/sfwalk/arch"

// maxFollowed bounds how many instructions Exits looks at.
const maxFollowed = 1 << 12

// Exits implements arch.Arch.Exits.
func (m *Machine) Exits(code []byte, at int) (found arch.Exits) {
	// number is the value of the register that says which system call is meant; -1 where
	// the straight line to the instruction does not tell.
	type place struct{ at, number int }
	seen := make([]bool, len(code))
	work := append(make([]place, 0, 16), place{at, -1})
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops := *room
	for n := 0; len(work) > 0; n++ {
		at, number := work[len(work)-1].at, work[len(work)-1].number
		work = work[:len(work)-1]
		if at >= len(code) || n == maxFollowed {
			return found | arch.Returns // who knows
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		next := at + int(in.Len)
		switch in.Flow {
		case Stop:
			continue
		case Away:
			found |= arch.Returns | arch.Computed
			continue
		case To, MaybeTo, Bad:
			if found |= arch.Returns; in.Flow != MaybeTo {
				continue
			}
		case Jump, Branch, BranchNE:
			if to := in.Within(code); to == outside {
				found |= arch.Jumps
			} else {
				work = append(work, place{int(to), -1})
			}
			if in.Flow == Jump {
				continue
			}
		case Call:
			if next >= len(code) {
				continue // it does not return
			}
			number = -1
		default:
			if m.EndsThread(code[at:], number) {
				continue
			}
			if in.Kill.Has(m.SystemCall) {
				number = -1
			}
			for i := range ops {
				if ops[i].Dst == m.SystemCall {
					number = ops[i].number(number)
				}
			}
		}
		work = append(work, place{next, number})
	}
	return found
}

// number returns the number that an operation leaves in its register, which had the number old;
// -1 is for what is not known.
func (o *Op) number(old int) int {
	switch {
	case o.Kind == Sum && o.Base == None:
		return int(o.Imm)
	case o.Kind == Insert && old >= 0:
		if n, ok := o.Insert(int32(old)); ok {
			return int(n)
		}
	}
	return -1
}
