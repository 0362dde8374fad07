package s390x

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/trad"
)

// The ELF ABI s390x supplement: "Register roles", "DWARF register number
// mapping", "Stack frame allocation".
func TestABI(t *testing.T) {
	a := Arch
	for name, num := range map[string]trad.Reg{
		"r0": 0, "r11": 11, "r15": 15, "f0": 16, "f2": 17, "f4": 18, "f6": 19, "f1": 20, "f3": 21, "f5": 22, "f7": 23,
		"f8": 24, "f10": 25, "f12": 26, "f14": 27, "f9": 28, "f11": 29, "f13": 30, "f15": 31,
		"acr0": 48, "acr15": 63, "pswm": 64, "pswa": 65,
	} {
		if got := a.RegName(num); got != name {
			t.Errorf("register %d is %s, want %s", num, got, name)
		}
		if i := a.Index(num); i < 0 || a.Regs[i].Name != name {
			t.Errorf("index of %s is %d", name, i)
		}
	}
	if len(a.Regs) != 50 || a.RegName(40) != "r40" || a.Index(40) != -1 {
		t.Errorf("%d registers", len(a.Regs))
	}
	seen := arch.RegSet{}
	for _, r := range a.Regs {
		if seen.Has(r.Num) || r.Num >= arch.MaxReg {
			t.Errorf("register %d is there twice", r.Num)
		}
		seen.Add(r.Num)
	}
	for r := trad.Reg(0); r < arch.MaxReg; r++ {
		want := r >= 6 && r <= 13 || r == 15 || r >= 24 && r <= 31 || r >= 48 && r <= 63
		if a.CalleeSaved.Has(r) != want {
			t.Errorf("%s is callee-saved: %v", a.RegName(r), !want)
		}
	}
	if a.PC != 65 || a.SP != 15 || a.FP != 11 || a.RA != 14 {
		t.Errorf("PC %d, SP %d, FP %d, RA %d", a.PC, a.SP, a.FP, a.RA)
	}
	// r14's slot in the save area of 160 bytes above the caller's SP.
	if a.SPFromCFA != -160 || a.BackChainRA != 112-160 || a.RedZone != 0 || a.FrameAlign(0x1fff) != 0x1ff8 {
		t.Error("stack rules")
	}
	if a.Order.Uint16([]byte{1, 2}) != 0x102 || a.PtrSize != 8 || a.CodeAddress(^uint64(0)) != ^uint64(0) {
		t.Error("addresses")
	}
}

func TestLookUp(t *testing.T) {
	if arch.ByName("s390x") != Arch || arch.ByMachine(elf.EM_S390, binary.BigEndian) != Arch || arch.BySFrameABI(4) != Arch {
		t.Error("the descriptor is not found")
	}
	if arch.ByMachine(elf.EM_S390, binary.LittleEndian) != nil {
		t.Error("the descriptor is found for another byte order")
	}
}

// TestKernelRegs: values of each size from a set as it is in memory, on a host
// of any byte order, and as much as there is of one that is cut off.
func TestKernelRegs(t *testing.T) {
	set := make([]byte, 216)
	for i := range set {
		set[i] = byte(i)
	}
	var regs arch.Registers
	Arch.KernelRegs[0].Get(Arch, set, &regs)
	for r, want := range map[trad.Reg]uint64{PSWM: 0x0001020304050607, PSWA: 0x08090a0b0c0d0e0f, R0: 0x1011121314151617, R15: 0x88898a8b8c8d8e8f, ACR0: 0x90919293, ACR0 + 15: 0xcccdcecf} {
		if v, ok := regs.Get(r); v != want || !ok {
			t.Errorf("%s is %#x, want %#x", Arch.RegName(r), v, want)
		}
	}
	regs = arch.Registers{}
	Arch.KernelRegs[1].Get(Arch, set[:100], &regs)
	if v, ok := regs.Get(F10); v != 0x58595a5b5c5d5e5f || !ok || regs.Known.Len() != 11 {
		t.Errorf("f10 is %#x, %d registers known", v, regs.Known.Len())
	}
}
