package amd64

import (
	"bytes"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
)

// A selector has 16 bits (Intel SDM, volume 1, section 3.4.2). Of the 8 bytes that
// struct user_regs_struct has for one, the others are undefined.
func TestSelectors(t *testing.T) {
	k := &Arch.KernelRegs[0]
	set := bytes.Repeat([]byte{0xa5}, k.Size)
	set[136], set[137] = 0x33, 0 // cs
	set[200], set[201] = 0x34, 0x12
	var regs arch.Registers
	k.Get(Arch, set, &regs)
	if regs.Value[CS] != 0x33 || regs.Value[FS] != 0x1234 || regs.Value[GS] != 0xa5a5 || regs.Value[GSBase] != 0xa5a5a5a5a5a5a5a5 {
		t.Errorf("cs %#x, fs %#x, gs %#x, gs_base %#x", regs.Value[CS], regs.Value[FS], regs.Value[GS], regs.Value[GSBase])
	}
	regs.Set(CS, 0xfffffffffff00033)
	k.Put(Arch, &regs, set)
	if !bytes.Equal(set[136:144], []byte{0x33, 0, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5}) {
		t.Errorf("cs is written as % x", set[136:144])
	}
	for _, r := range []struct {
		name string
		want uint64
	}{{"cs", 0xdef0}, {"ss", 0xdef0}, {"gs", 0xdef0}, {"eflags", 0x9abcdef0}, {"fs_base", 0x123456789abcdef0}} {
		for i := range Arch.Regs {
			if info := Arch.Regs[i]; info.Name == r.name && Arch.Narrow(info.Num, 0x123456789abcdef0) != r.want {
				t.Errorf("%s is %#x, want %#x", r.name, Arch.Narrow(info.Num, 0x123456789abcdef0), r.want)
			}
		}
	}
}
