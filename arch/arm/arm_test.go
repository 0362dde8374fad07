package arm

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

// TestABI: AAPCS32, 6.1.1 (general registers), 6.1.2.1 (floating point), 6.2.1.2 (the stack at a
// call); AADWARF32, 4.1 (numbers).
func TestABI(t *testing.T) {
	a := Arch
	for name, num := range map[string]trad.Reg{"r0": 0, "r7": 7, "r11": 11, "r12": 12, "sp": 13, "lr": 14, "pc": 15, "d8": 80, "d15": 94} {
		if i := a.Index(num); i < 0 || a.RegName(num) != name {
			t.Errorf("register %d is %s, want %s", num, a.RegName(num), name)
		}
	}
	for r := trad.Reg(0); r < arch.MaxReg; r++ {
		want := r >= 4 && r <= 11 || r == 13 || r == TPIDRURO || r >= 80 && r%2 == 0
		if a.CalleeSaved.Has(r) != want {
			t.Errorf("%s is callee-saved: %v", a.RegName(r), !want)
		}
	}
	if a.FrameAlign(0x1fff) != 0x1ff8 || a.RAOffset != 0 || a.SPFromCFA != 0 || a.RedZone != 0 {
		t.Error("stack rules")
	}
	if a.CodeAddress(0x10321) != 0x10320 || a.CodeAddress(0x10320) != 0x10320 {
		t.Error("bit 0 is of a Thumb address")
	}
	if arch.ByName("arm") != a || arch.ByMachine(elf.EM_ARM, binary.LittleEndian) != a || arch.ByMachine(elf.EM_ARM, binary.BigEndian) != nil || arch.ByGDBName("armv7") != a {
		t.Error("the descriptor is not found, or for big-endian programs")
	}
}

func TestDWARFNumbers(t *testing.T) {
	a32Code.DWARFNumbers(t, "bx lr", func(r arch.RegInfo) string {
		if r.Num == CPSR || r.Num == TPIDRURO {
			return "" // AADWARF32 has none for the one, and another one for the other
		}
		return fmt.Sprintf("r%d", r.Num)
	})
}

// TestLayout: offsets of the kernel's structures, by a compiler that reads its headers.
func TestLayout(t *testing.T) {
	const source = `#include <signal.h>
#include <ucontext.h>
#include <stddef.h>
#include <sys/user.h>
#include <sys/procfs.h>
struct rt_sigframe { siginfo_t info; ucontext_t uc; };
int values[] = {
	offsetof(struct rt_sigframe, uc),
	offsetof(ucontext_t, uc_mcontext),
	offsetof(mcontext_t, arm_r0),
	offsetof(ucontext_t, uc_mcontext.arm_sp),
	offsetof(ucontext_t, uc_mcontext.arm_cpsr),
	offsetof(ucontext_t, uc_stack.ss_sp),
	offsetof(ucontext_t, uc_stack.ss_size),
	sizeof(elf_gregset_t),
};
`
	cmd := exec.Command(gdbtest.Tool(t, "arm-linux-gnueabihf-gcc"), "-S", "-w", "-x", "c", "-o", "-", "-")
	cmd.Stdin = strings.NewReader(source)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\s+\.word\s+(\d+)$`).FindAllStringSubmatch(string(out), -1) {
		got = append(got, m[1])
	}
	want := fmt.Sprint([]int{rtSigframeUContext, ucontextSigcontext, sigcontextR0, Arch.UContext.SP, frameCPSR, Arch.UContext.StackBase, Arch.UContext.StackSize, Arch.KernelRegs[0].Size})
	if fmt.Sprint(got) != want {
		t.Errorf("offsets %v, the headers have %v", want, got)
	}
}

// TestKernelRegs: values from sets as they are in memory.
func TestKernelRegs(t *testing.T) {
	set := make([]byte, 32*8+4)
	for i := range set {
		set[i] = byte(i)
	}
	var r arch.Registers
	Arch.KernelRegs[0].Get(Arch, set[:72], &r)
	Arch.KernelRegs[1].Get(Arch, set, &r)
	for reg, want := range map[trad.Reg]uint64{R0: 0x03020100, SP: 0x37363534, PC: 0x3f3e3d3c, CPSR: 0x43424140, D8: 0x4746454443424140, D8 + 14: 0x7f7e7d7c7b7a7978} {
		if v, ok := r.Get(reg); !ok || v != want {
			t.Errorf("%s is %#x, want %#x", Arch.RegName(reg), v, want)
		}
	}
}
