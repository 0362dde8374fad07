package target

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/trad"
)

// RegisterSet is one of a thread's register sets as the kernel gives it and core files have it.
type RegisterSet struct {
	Note uint32 // the type of its note: NT_PRFPREG, …
	Data []byte
}

// RegisterSets are the register sets of a thread that have its wide registers (arch.Arch.WideRegs),
// and control.NTXLayout of its machine, if that is known.
type RegisterSets []RegisterSet

// MaxRegisterSet is the size of the largest register set that is kept, in bytes. NT_X86_XSTATE has
// 2,696 with AVX-512, and 11,008 with AMX; NT_ARM_SVE has 8,768 with the longest vectors.
const MaxRegisterSet = 16 << 10

// WideSets returns the types of the register sets that have a processor's wide registers: a target
// reads these sets of each thread from the kernel or from a core file, see [RegisterSets].
func WideSets(a *arch.Arch) (notes []uint32) {
	seen := make(map[uint32]bool)
	for i := range a.WideRegs() {
		for _, p := range a.WideRegs()[i].Parts {
			if !seen[p.Note] {
				seen[p.Note] = true
				notes = append(notes, p.Note)
			}
		}
	}
	return notes
}

// ReadRegister fills b with the bytes of register r from offset on, as [WideThread] says it.
func (s RegisterSets) ReadRegister(a *arch.Arch, r trad.Reg, offset int, b []byte) error {
	done, at := 0, 0 // at is where the part begins in the register
	if w := a.Wide(r); w != nil {
		for i, p := range w.Parts {
			lo, hi := max(offset, at), min(offset+len(b), at+p.Size)
			if i < len(w.Also) && w.Also[i].Size == p.Size && s.Of(p.Note) == nil {
				p = w.Also[i]
			}
			data := s.Of(p.Note)
			if from, ok := p.At(data, s.Of(control.NTXLayout)); ok && lo < hi {
				copy(b[lo-offset:hi-offset], data[from+lo-at:])
				done += hi - lo
			}
			at += p.Size
		}
	}
	if offset < 0 || done < len(b) {
		return fmt.Errorf("register %s: bytes %d to %d are not known", a.RegName(r), offset, offset+len(b)-1)
	}
	return nil
}

// Of returns the set of a type, nil if there is none.
func (s RegisterSets) Of(note uint32) []byte {
	for i := range s {
		if s[i].Note == note {
			return s[i].Data
		}
	}
	return nil
}
