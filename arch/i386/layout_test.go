package i386

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestLayout: the kernel's structs have their members where its headers have them.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "layout.c")
	const program = `
#define _GNU_SOURCE
#include <stddef.h>
#include <signal.h>
#include <ucontext.h>
#include <sys/user.h>
#include <sys/procfs.h>
#define IS(name, a, b) _Static_assert((a) == (b), name)
IS("uc_mcontext", offsetof(ucontext_t, uc_mcontext), UC_MCONTEXT);
IS("uc_stack.ss_sp", offsetof(ucontext_t, uc_stack.ss_sp), STACK_BASE);
IS("uc_stack.ss_size", offsetof(ucontext_t, uc_stack.ss_size), STACK_SIZE);
IS("esp", offsetof(ucontext_t, uc_mcontext.gregs[REG_ESP]), UC_SP);
IS("eip", offsetof(struct sigcontext, eip), SC_IP);
IS("cs", offsetof(struct sigcontext, cs), SC_CS);
IS("eflags", offsetof(struct sigcontext, eflags), SC_FLAGS);
IS("ss", offsetof(struct sigcontext, ss), SC_SS);
IS("sigcontext", sizeof(struct sigcontext), SC_SIZE);
IS("user_regs_struct", sizeof(struct user_regs_struct), REGS_SIZE);
IS("ebx", offsetof(struct user_regs_struct, ebx), REGS_EBX);
IS("user eip", offsetof(struct user_regs_struct, eip), REGS_EIP);
IS("user esp", offsetof(struct user_regs_struct, esp), REGS_ESP);
IS("user eax", offsetof(struct user_regs_struct, eax), REGS_EAX);
IS("user gs", offsetof(struct user_regs_struct, xgs), REGS_GS);
IS("orig_eax", offsetof(struct user_regs_struct, orig_eax), REGS_ORIG);
IS("pr_reg", offsetof(struct elf_prstatus, pr_reg), PR_REG);
IS("st_space", offsetof(struct user_fpregs_struct, st_space), ST0_AT);
IS("xmm_space", offsetof(struct user_fpxregs_struct, xmm_space), XMM0_AT);
`
	if err := os.WriteFile(src, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	regs := map[string]int{}
	for _, r := range Arch.KernelRegs[0].Regs {
		regs[Arch.RegName(r.Reg)] = r.Off
	}
	args := []string{"-fsyntax-only"}
	for name, n := range map[string]int{
		"UC_MCONTEXT": ucontextSigcontext, "STACK_BASE": Arch.UContext.StackBase, "STACK_SIZE": Arch.UContext.StackSize, "UC_SP": Arch.UContext.SP,
		"SC_IP": sigcontextIP, "SC_CS": sigcontextCS, "SC_FLAGS": sigcontextFlags, "SC_SS": sigcontextSS, "SC_SIZE": sigcontextSize,
		"REGS_SIZE": Arch.KernelRegs[0].Size, "REGS_EBX": regs["ebx"], "REGS_EIP": regs["eip"], "REGS_ESP": regs["esp"], "REGS_EAX": regs["eax"], "REGS_GS": regs["gs"],
		"REGS_ORIG": Arch.Control.SystemCall.Off, "PR_REG": Arch.PRStatusHeader(), "ST0_AT": Arch.WideRegs()[8].Parts[0].Off, "XMM0_AT": Arch.WideRegs()[0].Parts[0].Off,
	} {
		args = append(args, fmt.Sprintf("-D%s=%d", name, n))
	}
	if msg, err := exec.Command(gdbtest.Tool(t, "i686-linux-gnu-gcc"), append(args, src)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, strings.TrimSpace(string(msg)))
	}
}
