package remote

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// layout says where the stub has the registers of the architecture's descriptor.
type layout struct {
	regs []slot
	mask []int // numbers of the registers that hold the pointer authentication masks of code
	all  []described
	// misplaced reports whether the stub has another register by a name than the processor; nil if
	// it has none such.
	misplaced func(name string) bool
}

// described is a register of the stub.
type described struct {
	slot
	name   string
	system bool
}

// slot is where the stub has one register: at off in the answer to g, or, if that ends before, in
// the answer to p.
type slot struct {
	reg   trad.Reg
	num   int
	off   int // bytes from the beginning of g's answer
	bytes int
}

// undescribed returns the registers of a stub that sends no target description.
func undescribed(a *arch.Arch) (list []register) {
	for i, r := range a.GDB().Registers {
		list = append(list, register{name: r.Name, num: i, bits: r.Bits, off: -1})
	}
	return list
}

// newLayout finds the registers of the architecture's descriptor among regs, the stub's.
func newLayout(a *arch.Arch, regs []register) (*layout, error) {
	byName := make(map[string]trad.Reg)
	for _, r := range a.Regs {
		byName[r.Name] = r.Num
	}
	regs = append([]register(nil), regs...)
	sort.SliceStable(regs, func(i, j int) bool { return regs[i].num < regs[j].num })
	l := &layout{}
	off := 0
	for i, r := range regs {
		if i > 0 && r.num == regs[i-1].num {
			return nil, fmt.Errorf("target description: registers %q and %q have one number, %d", regs[i-1].name, r.name, r.num)
		}
		size := (r.bits + 7) / 8
		if r.off >= 0 {
			off = r.off
		}
		if !r.part {
			l.all = append(l.all, described{slot{num: r.num, off: off, bytes: size}, r.name, r.system})
		}
		num, ok := byName[r.name]
		if !ok {
			num, ok = byName[a.GDB().Aliases[r.name]]
		}
		if ok {
			delete(byName, a.RegName(num))
			l.regs = append(l.regs, slot{num, r.num, off, size})
		}
		if r.name == "pauth_cmask" {
			l.mask = append(l.mask, r.num)
		}
		off += size
	}
	for _, need := range [...]trad.Reg{a.PC, a.SP} {
		if _, missing := byName[a.RegName(need)]; missing {
			return nil, fmt.Errorf("target description: it has no register %q, which %s has", a.RegName(need), a.Name)
		}
	}
	return l, nil
}

// get takes the registers out of g's answer: two digits a byte, "xx" for an unavailable one. It
// returns the registers that lie behind the end of the answer.
func (l *layout) get(a *arch.Arch, reply []byte, to *arch.Registers) (behind []slot) {
	for _, p := range l.regs {
		if 2*(p.off+p.bytes) > len(reply) {
			behind = append(behind, p)
			continue
		}
		if v, ok := value(a, reply[2*p.off:2*(p.off+p.bytes)]); ok {
			to.Set(p.reg, v)
		}
	}
	return behind
}

// maxRegister is the size of the widest register, bytes: arm64's scalable vectors, which the
// descriptor's registers are parts of.
const maxRegister = 256

// value decodes a register in the target's byte order. If the register is wider than 64 bits, value
// takes the part that the narrower register of the same name is.
func value(a *arch.Arch, text []byte) (v uint64, ok bool) {
	var room [maxRegister]byte
	n := len(text) / 2
	if n == 0 || n > len(room) || unhex(room[:n], text) < n {
		return 0, false
	}
	b := room[:n]
	if n > 8 { // a vector register: d8 is v8's low half, f8 the beginning of v8
		if b = b[:8]; a.Order == binary.ByteOrder(binary.LittleEndian) {
			return binary.LittleEndian.Uint64(b), true
		}
		return binary.BigEndian.Uint64(b), true
	}
	return number(a, b), true
}
