package dataflow

// maxLoadsSP is how many instructions LoadsSP looks at.
const maxLoadsSP = 6

// LoadsSP implements arch.Arch.LoadsSP: the stack pointer is loaded, or another register that it
// gets its value from.
func (m *Machine) LoadsSP(code []byte) bool {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	ops, at := *room, 0
	loaded := Set(0)
	for range maxLoadsSP {
		if at >= len(code) {
			break
		}
		var in Inst
		in, ops = m.Decode(code, at, ops[:0])
		if in.Flow != Next && in.Flow != Call || in.Kill.Has(m.SP) {
			break
		}
		loaded &^= in.Kill
		for i := range ops {
			o := &ops[i]
			fromStack := o.Kind == Load && o.Base == m.SP
			if o.Dst == m.SP && (o.Kind != Sum || o.Base != m.SP) {
				return fromStack || o.Kind == Sum && o.Imm == 0 && o.Index == None && loaded.Has(o.Base)
			}
			if loaded &^= o.Dst.Bit(); fromStack {
				loaded |= o.Dst.Bit()
			}
		}
		at += int(in.Len)
	}
	return false
}
