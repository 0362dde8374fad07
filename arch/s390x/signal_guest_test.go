//go:build linux

package s390x

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/rowtest"
	"github.com/sfwalk/sfwalk/trad"
)

// guestStop stops before a signal and in its handler. There it shows what gdb makes of the
// trampoline's frame. gdb knows the frames by trampolines on the stack, as older kernels had them,
// so one is put there: rt_sigreturn's trampoline where they had it, the other where nothing is. (In
// the vDSO that emulators have since qemu 8.1, gdb does not know them: the one begins where its
// code does, and gdb looks before it.)
const guestStop = `continue
echo begin %[1]s\n
info registers
info registers f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15
continue
echo handler %[1]s\n
info registers r14 r15
x/4xb $r14
dump binary memory %[2]s $r15 $r15+1024
set $kept = $r14
%[3]s
frame 1
info frame
frame 0
set $r14 = $kept
`

// TestSignalFrames runs a program under an emulator and holds the trampolines'
// rows against the registers before the signals and against gdb's idea of where
// they are saved.
func TestSignalFrames(t *testing.T) {
	dir := t.TempDir()
	prog, socket := filepath.Join(dir, "prog"), filepath.Join(dir, "socket")
	if msg, err := exec.Command(gdbtest.Tool(t, "s390x-linux-gnu-gcc"), "-O1", "-static", "-o", prog, "testdata/signal.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, msg)
	}
	gdb := gdbtest.Tool(t, "gdb-multiarch")
	qemu := exec.Command(gdbtest.Tool(t, "qemu-s390x"), "-g", socket, prog)
	if err := qemu.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		qemu.Process.Kill()
		qemu.Wait()
	}()
	gdbtest.Await(t, "qemu listens", func() bool { // the socket is there before that; the flag is __SO_ACCEPTCON
		sockets, err := os.ReadFile("/proc/net/unix")
		return err == nil && regexp.MustCompile(` 00010000 .* `+regexp.QuoteMeta(socket)+`\n`).Match(sockets)
	})
	script := "set pagination off\nset debuginfod enabled off\ntarget remote " + socket + "\nhandle SIGUSR1 SIGUSR2 nostop noprint pass\nbreak *before\nbreak *handler\nbreak *info_handler\n"
	stack := [2]string{filepath.Join(dir, "0"), filepath.Join(dir, "1")}
	script += fmt.Sprintf(guestStop, "0", stack[0], "set {short}($r15-256) = 0x0a77\nset $r14 = $r15-256")
	script += fmt.Sprintf(guestStop, "1", stack[1], "set {short}($r15+160) = 0x0aad\nset $r14 = $r15+160")
	script += "kill\n"
	name := filepath.Join(dir, "script")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), gdb, "-nx", "-batch", "-x", name, prog).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	for i, row := range []trad.Row{signalRow(0x1000, 2), rtSignalRow(0x1000, 2)} {
		_, text, _ := strings.Cut(string(out), fmt.Sprintf("begin %d\n", i))
		before, text, ok := strings.Cut(text, fmt.Sprintf("handler %d\n", i))
		if text, _, _ = strings.Cut(text, "begin 1\n"); !ok {
			t.Fatalf("gdb said:\n%s", out)
		}
		memory, err := os.ReadFile(stack[i])
		if err != nil {
			t.Fatal(err)
		}
		checkSignalRow(t, &row, before, text, memory)

		handler := registerValues(text)["r15"]
		for off := 0; off < len(memory); off += 8 {
			sp, ok := Arch.SigContext(handler+uint64(off), memory[off:])
			if want := i == 0 && off == saveArea; ok != want || ok && sp != registerValues(before)["r15"] {
				t.Errorf("signal %d: a struct sigcontext at SP+%d: %v, which interrupted %#x", i, off, ok, sp)
			}
		}
	}
}

// stackEnv is the trampoline's frame: its SP, and the memory from there on.
type stackEnv struct {
	sp     uint64
	memory []byte
}

func (e stackEnv) Register(r trad.Reg) (uint64, bool) { return e.sp, r == R15 }
func (e stackEnv) Word(addr uint64) (uint64, error) {
	if off := addr - e.sp; off <= uint64(len(e.memory)-8) {
		return binary.BigEndian.Uint64(e.memory[off:]), nil
	}
	return 0, fmt.Errorf("no memory at %#x", addr)
}

func checkSignalRow(t *testing.T, row *trad.Row, before, text string, memory []byte) {
	t.Helper()
	values := registerValues(before)
	handler := registerValues(text)
	env := stackEnv{handler["r15"], memory}

	// The trampoline's code is one that the descriptor knows, with this row.
	found := false
	for _, tr := range Arch.Trampolines {
		bytes := regexp.MustCompile(fmt.Sprintf(`:\s+0x%02x\s+0x%02x`, tr.Code[0], tr.Code[1]))
		if r := tr.Row(row.Lo, row.Len); bytes.MatchString(text) && r.RA == row.RA {
			found = true
		}
	}
	if !found {
		t.Errorf("the trampoline is none that is known:\n%s", text)
	}

	cfa, err := row.Apply(env)
	if err != nil {
		t.Fatal(err)
	}
	var frameAt uint64
	if m := regexp.MustCompile(`frame at 0x([0-9a-f]+)`).FindStringSubmatch(text); m != nil {
		frameAt = rowtest.ParseHex(t, m[1])
	}
	if cfa != frameAt || cfa != values["r15"]+160 {
		t.Errorf("CFA %#x, gdb has %#x, r15 was %#x", cfa, frameAt, values["r15"])
	}
	saved := map[string]uint64{}
	for _, m := range regexp.MustCompile(`(\w+) at 0x([0-9a-f]+)`).FindAllStringSubmatch(text, -1) {
		saved[m[1]] = rowtest.ParseHex(t, m[2])
	}
	compared := 0
	for _, r := range Arch.Regs {
		rule := row.Others.Rule(r.Num)
		switch r.Num {
		case PSWA:
			rule = row.RA
		case R11:
			rule = row.FP
		}
		p, err := row.Place(rule, r.Num, env, cfa)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		v := p.Addr
		if p.Kind == trad.InMemory {
			if p.Addr != saved[r.Name] && r.Name != "r15" { // of which gdb says the value
				t.Errorf("%s is at %#x, gdb has it at %#x", r.Name, p.Addr, saved[r.Name])
			}
			if v, err = env.Word(p.Addr); err != nil {
				t.Errorf("%s: %v", r.Name, err)
			}
		}
		want, known := values[r.Name]
		if !known {
			t.Errorf("gdb has no register %s", r.Name)
		}
		switch r.Num {
		case PSWA:
			want += 2 // behind svc
		case R2:
			want = 0 // its result
		case PSWM:
			want &^= 3 << 44 // the condition code
			v &^= 3 << 44
			known = false // the kernel sets bits of its own
		}
		if compared++; known && v != want {
			t.Errorf("%s was %#x, the row gives %#x", r.Name, want, v)
		}
	}
	if compared != len(Arch.Regs) || len(values) < len(Arch.Regs) {
		t.Errorf("only %d registers, %d values known", compared, len(values))
	}
}

// registerValues reads gdb's "info registers". Of the floating-point ones it
// takes the raw bits.
func registerValues(text string) map[string]uint64 {
	values := map[string]uint64{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		v := f[1]
		if m := regexp.MustCompile(`raw (0x[0-9a-f]+)`).FindStringSubmatch(line); m != nil {
			v = m[1]
		}
		var n uint64
		if _, err := fmt.Sscanf(v, "0x%x", &n); err == nil {
			values[f[0]] = n
		}
	}
	return values
}

const layoutSource = `
#include <stddef.h>
#include <asm/types.h>
#include <asm/ptrace.h>
#include <asm/signal.h>
#include <asm/siginfo.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
/* What the kernel puts on the stack (arch/s390/kernel/signal.c). */
struct sigframe { __u8 callee_used_stack[__SIGNAL_FRAMESIZE]; struct sigcontext sc; _sigregs sregs; };
struct rt_sigframe { __u8 callee_used_stack[__SIGNAL_FRAMESIZE]; __u16 svc_insn; siginfo_t info; struct ucontext_extended uc; };
long layout[] = {
	offsetof(struct ucontext_extended, uc_stack.ss_sp), offsetof(struct ucontext_extended, uc_stack.ss_size),
	offsetof(struct ucontext_extended, uc_mcontext.regs.gprs[15]),
	sizeof(s390_regs), offsetof(s390_regs, psw.mask), offsetof(s390_regs, psw.addr), offsetof(s390_regs, gprs[0]), offsetof(s390_regs, gprs[15]),
	offsetof(s390_regs, acrs[0]), offsetof(s390_regs, acrs[15]), offsetof(s390_regs, orig_gpr2),
	sizeof(s390_fp_regs), offsetof(s390_fp_regs, fprs[0]), offsetof(s390_fp_regs, fprs[15]),
	offsetof(struct sigframe, sregs.regs.psw.addr), offsetof(struct sigframe, sregs.regs.gprs[11]), offsetof(struct sigframe, sregs.fpregs.fprs[8]),
	offsetof(struct rt_sigframe, uc.uc_mcontext.regs.psw.addr), offsetof(struct rt_sigframe, uc.uc_mcontext.regs.gprs[11]), offsetof(struct rt_sigframe, uc.uc_mcontext.fpregs.fprs[8]),
};
`

// TestLayout holds offsets against the compiler's, from the kernel's headers.
func TestLayout(t *testing.T) {
	src := filepath.Join(t.TempDir(), "layout.c")
	if err := os.WriteFile(src, []byte(layoutSource), 0o600); err != nil {
		t.Fatal(err)
	}
	asm, err := exec.Command(gdbtest.Tool(t, "s390x-linux-gnu-gcc"), "-S", "-o", "-", src).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	for _, m := range regexp.MustCompile(`\.quad\s+(\d+)`).FindAllStringSubmatch(string(asm), -1) {
		n := 0
		fmt.Sscan(m[1], &n)
		want = append(want, n)
	}
	place := func(k *arch.KernelRegs, r trad.Reg, size int) int {
		for _, x := range k.Regs {
			if x.Reg == r && x.Size == size {
				return x.Off
			}
		}
		return -1
	}
	status, floats := &Arch.KernelRegs[0], &Arch.KernelRegs[1]
	row, rt := signalRow(0, 2), rtSignalRow(0, 2)
	got := []int{
		Arch.UContext.StackBase, Arch.UContext.StackSize, Arch.UContext.SP,
		status.Size, place(status, PSWM, 8), place(status, PSWA, 8), place(status, R0, 8), place(status, R15, 8),
		place(status, ACR0, 4), place(status, ACR0+15, 4), place(status, OrigR2, 8),
		floats.Size, place(floats, F0, 8), place(floats, F15, 8),
		int(row.RA.Off), int(row.FP.Off), int(row.Others.Rule(F8).Off),
		int(rt.RA.Off), int(rt.FP.Off), int(rt.Others.Rule(F8).Off),
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("offsets %v, the compiler has %v", got, want)
	}
	if len(status.Regs) != 35 || len(floats.Regs) != 16 {
		t.Errorf("%d and %d registers", len(status.Regs), len(floats.Regs))
	}
}
