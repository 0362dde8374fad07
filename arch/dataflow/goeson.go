package dataflow

// maxOnward bounds how many instructions GoesOn yields.
const maxOnward = 1 << 9

// GoesOn implements arch.Arch.GoesOn.
func (m *Machine) GoesOn(code []byte, start, pc uint64, yield func(pc uint64) bool) (steps int) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	var in Inst
	ops := *room
	for at := int64(pc - start); at >= 0 && at < int64(len(code)) && steps < maxOnward; steps++ {
		if !yield(start + uint64(at)) {
			break
		}
		in, ops = m.Decode(code, int(at), ops[:0])
		switch in.Flow {
		case Next, Branch, BranchNE, Call, MaybeTo:
			at += int64(in.Len)
		case Jump:
			at = in.Target
		default:
			return steps
		}
	}
	return steps
}
