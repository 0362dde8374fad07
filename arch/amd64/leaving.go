package amd64

// maxEpilogue is how many instructions an epilogue has at most.
const maxEpilogue = 24

// leaving is what straight-line code has done so far to leave its function.
type leaving struct {
	begun    bool // some of the frame is torn down
	restored bool // a register that calls preserve has its caller's value again
}

// inEpilogue implements arch.Arch.InEpilogue. Only what is certain to return is an
// epilogue, and a tail call behind a restored register; see values.Machine.ReadEpilogue.
func inEpilogue(code []byte, start, pc uint64) bool {
	off := int(min(pc-start, uint64(len(code))))
	if pc < start || off == len(code) {
		return false
	}
	if (leaving{}).leaves(code, off) {
		return true
	}
	if !(leaving{true, true}).leaves(code, off) {
		return false // whatever has been done before
	}
	var l leaving
	at := 0
	for at < off {
		o := decode(code, at)
		l.step(&o, code[at:])
		at += int(o.len)
	}
	return at == off && l.leaves(code, off)
}

// leaves reports whether the code from offset at on goes on leaving until it has left.
func (l leaving) leaves(code []byte, at int) bool {
	for range maxEpilogue {
		if at >= len(code) {
			return false
		}
		o := decode(code, at)
		switch o.kind {
		case opReturn:
			return true
		case opJump, opJumpAway:
			return l.restored
		}
		if !l.step(&o, code[at:]) {
			return false
		}
		at += int(o.len)
	}
	return false
}

// step takes in the instruction o, whose bytes code begins with, and reports whether it
// may be in an epilogue.
func (l *leaving) step(o *op, code []byte) bool {
	restores := func() bool { return o.dst != noReg && calleeOK&bit(o.dst) != 0 }
	switch {
	case o.kind == opLeave:
		*l = leaving{true, true}
	case o.kind == opPop && o.dst != RSP, o.kind == opLoad && o.base == RSP && o.dst != RSP && restores():
		*l = leaving{true, l.restored || restores()}
	case o.dst == RSP && (o.kind == opAdd && o.imm > 0 || o.kind == opMove && o.src == RBP ||
		o.kind == opLea && (o.base == RBP || o.base == R10 || o.base == RSP && o.imm > 0)): // R10: of a realigned frame
		l.begun = true
	case o.nop, o.kind == opOther && vzeroupper(code):
	case l.begun && o.harmless():
	default:
		*l = leaving{}
		return false
	}
	return true
}
