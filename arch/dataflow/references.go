package dataflow

import "maps"

// References implements arch.Arch.References.
func (m *Machine) References(code []byte, start uint64) (list []uint64) {
	room := scratch.Get().(*[]Op)
	defer scratch.Put(room)
	known := map[Reg]uint64{} // addresses in registers
	var in Inst
	ops := *room
	for at := 0; at < len(code); at += int(in.Len) {
		if in, ops = m.Decode(code, at, ops[:0]); in.Flow == Bad {
			break
		}
		known[PC] = start + uint64(at)
		maps.DeleteFunc(known, func(r Reg, _ uint64) bool { return in.Kill.Has(r) })
		for i := range ops {
			o := &ops[i]
			addr, refers := known[o.Base]
			if refers = refers && o.Index == None && o.Kind != Minus; refers {
				if o.Kind == Round {
					addr &= uint64(o.Imm)
				} else {
					addr += uint64(o.Imm)
					list = append(list, m.Address(addr))
				}
			}
			if o.Kind != Store {
				delete(known, o.Dst)
			}
			if refers && (o.Kind == Sum || o.Kind == Round) {
				known[o.Dst] = addr
			}
		}
	}
	return list
}
