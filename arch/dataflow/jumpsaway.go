package dataflow

// JumpsAway implements arch.Arch.JumpsAway.
func (m *Machine) JumpsAway(code []byte, start uint64) (targets []uint64, steps int) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	var in Inst
	ops := *room
	for at := 0; at < len(code); at += int(in.Len) {
		if in, ops = m.Decode(code, at, ops[:0]); in.Len == 0 {
			break
		}
		steps++
		if in.Flow == Jump && in.Target != NoTarget && in.Within(code) == outside {
			targets = append(targets, start+uint64(in.Target))
		}
	}
	return targets, steps
}
