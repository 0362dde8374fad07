package remote

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// layout says where the stub has the descriptor's registers.
type layout struct {
	regs []place
	mask []int // numbers of the registers that hold the pointer authentication masks of code
}

// place is one register: in the answer to g at off, or behind its end, where p
// tells it.
type place struct {
	reg   trad.Reg
	num   int
	off   int // bytes from the beginning of g's answer
	bytes int
}

// classic returns the order of g's registers for stubs that do not describe them:
// what gdb has always taken for granted (names and bits).
func classic(arch string) []register {
	switch arch {
	case "amd64":
		return inOrder(64, "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip").
			then(32, "eflags", "cs", "ss", "ds", "es", "fs", "gs")
	case "arm64":
		return inOrder(64, numbered("x", 31)...).then(64, "sp", "pc").then(32, "cpsr")
	case "s390x":
		return inOrder(64, "pswm", "pswa").then(64, numbered("r", 16)...).then(32, numbered("acr", 16)...).
			then(32, "fpc").then(64, numbered("f", 16)...)
	}
	return nil
}

type registerList []register

func inOrder(bits int, names ...string) registerList { return registerList(nil).then(bits, names...) }

func (l registerList) then(bits int, names ...string) registerList {
	for _, name := range names {
		l = append(l, register{name, len(l), bits})
	}
	return l
}

func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", prefix, i))
	}
	return names
}

// aliases are stubs' names for registers of the descriptors.
var aliases = map[string]string{
	"z8": "d8", "z9": "d9", "z10": "d10", "z11": "d11", "z12": "d12", "z13": "d13", "z14": "d14", "z15": "d15",
	"v8": "d8", "v9": "d9", "v10": "d10", "v11": "d11", "v12": "d12", "v13": "d13", "v14": "d14", "v15": "d15",
	"fp": "x29", "lr": "x30",
}

// newLayout finds the descriptor's registers among the stub's.
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
		num, ok := byName[r.name]
		if !ok {
			num, ok = byName[aliases[r.name]]
		}
		if ok {
			delete(byName, a.RegName(num))
			l.regs = append(l.regs, place{num, r.num, off, size})
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

// get takes the registers out of g's answer: two digits a byte, "xx" for what is
// not available. It returns those that lie behind its end.
func (l *layout) get(a *arch.Arch, reply []byte, to *arch.Registers) (behind []place) {
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

// maxRegister is the size of the widest register that a descriptor's is part of, arm64's
// scalable vectors, bytes.
const maxRegister = 256

// value decodes a register in the target's byte order; of one that is wider than
// 64 bits it takes the part that the narrower register of that name is.
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
	for i := range b {
		if a.Order == binary.ByteOrder(binary.BigEndian) {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * i)
		}
	}
	return v, true
}
