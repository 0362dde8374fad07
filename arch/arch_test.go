package arch_test

import (
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/trad"
)

func TestLookUp(t *testing.T) {
	if arch.ByName("amd64") != amd64.Arch || arch.ByName("vax") != nil || arch.ByName("i386") != i386.Arch || arch.ByName("386") != i386.Arch {
		t.Error("by name")
	}
	if arch.ByMachine(elf.EM_X86_64, binary.LittleEndian) != amd64.Arch || arch.ByMachine(elf.EM_X86_64, binary.BigEndian) != nil {
		t.Error("by machine")
	}
	if arch.BySFrameABI(3) != amd64.Arch || arch.BySFrameABI(9) != nil {
		t.Error("by SFrame ABI")
	}
}

func TestRegisters(t *testing.T) {
	var f arch.Registers
	if _, ok := f.Get(3); ok {
		t.Error("a register is known at first")
	}
	f.Set(3, 7)
	f.Set(arch.MaxReg-1, 8)
	if v, ok := f.Get(3); !ok || v != 7 {
		t.Errorf("register 3 is %d, %v", v, ok)
	}
	if v, ok := f.Get(arch.MaxReg - 1); !ok || v != 8 || f.Known.Len() != 2 {
		t.Errorf("last register is %d, %v", v, ok)
	}
	if _, ok := f.Get(60000); ok {
		t.Error("register 60000 is known")
	}
	f.Known.Remove(3)
	if _, ok := f.Get(3); ok {
		t.Error("register 3 is known after Remove")
	}
}

// The System V ABI, AMD64 supplement: 3.2.1 (preserved registers), 3.2.2 (the
// red zone, alignment), figure 3.36 (DWARF numbers).
func TestAMD64(t *testing.T) {
	a := amd64.Arch
	for name, num := range map[string]trad.Reg{"rax": 0, "rdx": 1, "rcx": 2, "rbx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "rsp": 7, "r8": 8, "r15": 15, "rip": 16, "eflags": 49, "fs_base": 58} {
		if got := a.RegName(num); got != name {
			t.Errorf("register %d is %s, want %s", num, got, name)
		}
		if i := a.Index(num); i < 0 || a.Regs[i].Name != name {
			t.Errorf("index of %s is %d", name, i)
		}
	}
	if a.RegName(33) != "r33" || a.Index(33) != -1 || a.Index(60000) != -1 {
		t.Error("an unnamed register has a name or an index")
	}
	for _, r := range []trad.Reg{3, 6, 7, 12, 13, 14, 15} {
		if !a.CalleeSaved.Has(r) {
			t.Errorf("%s is not callee-saved", a.RegName(r))
		}
	}
	for _, r := range []trad.Reg{0, 1, 2, 4, 5, 8, 9, 10, 11} {
		if a.CalleeSaved.Has(r) {
			t.Errorf("%s is callee-saved", a.RegName(r))
		}
	}
	if a.RedZone != 128 || a.FrameAlign(0x1fff) != 0x1ff0 || !a.InnerThan(1, 2) || a.InnerThan(2, 2) {
		t.Error("stack rules")
	}
	env := registers{16: 0x401000, 7: 0x7000}
	if pc, ok := a.UnwindPC(env); !ok || pc != 0x401000 {
		t.Errorf("PC %#x, %v", pc, ok)
	}
	if sp, ok := a.UnwindSP(env); !ok || sp != 0x7000 {
		t.Errorf("SP %#x, %v", sp, ok)
	}
}

type registers map[trad.Reg]uint64

func (r registers) Register(n trad.Reg) (uint64, bool) { v, ok := r[n]; return v, ok }
func (r registers) Word(addr uint64) (uint64, error)   { return 0, nil }

// TestOnStack: a stack with nothing of the kernel's on it, or anything, is not taken for
// the frame of a signal trampoline. (What the kernel does leave there is tried on live
// processes: internal/command, internal/guesttest.)
func TestOnStack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	stacks := map[string]func(off int) uint64{
		"zeros":     func(int) uint64 { return 0 },
		"ones":      func(int) uint64 { return 1<<64 - 1 },
		"addresses": func(off int) uint64 { return 0x7fff0000 + uint64(off) },
		"numbers":   func(int) uint64 { return rnd.Uint64N(8) },
		"anything":  func(int) uint64 { return rnd.Uint64() },
	}
	for _, name := range []string{"386", "amd64", "arm64", "s390x"} {
		a, known := arch.ByName(name), 0
		for _, tramp := range a.Trampolines {
			if tramp.OnStack == nil {
				continue
			}
			known++
			for what, word := range stacks {
				for range 1000 {
					if tramp.OnStack(0x7ffd0000, word) {
						t.Errorf("%s: %s on the stack are taken for a signal frame", name, what)
						break
					}
				}
			}
		}
		if known == 0 {
			t.Errorf("%s: no form of a signal frame is known by the stack", name)
		}
	}
}
