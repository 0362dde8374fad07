package values

// leaving is what straight code has done so far to leave its function.
type leaving struct {
	begun    bool // some of the frame is torn down
	restored bool // a register that calls preserve has its caller's value again
}

// InEpilogue implements arch.Arch.InEpilogue. Only what is certain to return is an epilogue, and
// a tail call behind a restored register; see ReadEpilogue.
func (m *Machine) InEpilogue(code []byte, start, pc uint64) bool {
	off := int(min(pc-start, uint64(len(code))))
	if pc < start || off == len(code) {
		return false
	}
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	if m.leaves(leaving{}, code, off, *room) {
		return true
	}
	if !m.leaves(leaving{true, true}, code, off, *room) {
		return false // whatever has been done before
	}
	var l leaving
	at := 0
	for ops := *room; at < off; {
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		l.step(m, &in, ops)
		at += int(in.Len)
	}
	return at == off && m.leaves(l, code, off, *room)
}

// leaves reports whether the code from offset at on goes on leaving until it has left.
func (m *Machine) leaves(l leaving, code []byte, at int, ops []Op) bool {
	for range maxEpilogue {
		if at >= len(code) {
			return false
		}
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		switch {
		case in.Return:
			return true
		case in.Flow == Jump || in.Flow == To || in.Flow == Away:
			return l.restored
		}
		if !l.step(m, &in, ops) {
			return false
		}
		at += int(in.Len)
	}
	return false
}

// step takes in an instruction, and reports whether it may be in an epilogue.
func (l *leaving) step(m *Machine, in *Inst, ops []Op) bool {
	next := *l
	takesDown := false
	for i := range ops {
		switch o := &ops[i]; {
		case o.Kind == Sum && o.Dst == m.SP && o.Index == None && (o.Base == m.SP && o.Imm > 0 || o.Base == m.FP || o.Base == m.Arguments):
			takesDown = true
		case o.Kind == Load && o.Base == m.SP && o.Dst != m.SP && m.Preserved.Has(o.Dst):
			takesDown, next.restored = true, true
		case o.Kind == Store || o.Kind == Sign || o.Kind != Compare && m.wanted().Has(o.Dst):
			*l = leaving{}
			return false
		}
	}
	if in.Flow != Next || in.Kill&m.wanted() != 0 || !takesDown && !in.Nop && !l.begun {
		*l = leaving{}
		return false
	}
	next.begun = next.begun || takesDown
	*l = next
	return true
}
