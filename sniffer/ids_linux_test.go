//go:build amd64

package sniffer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// TestIDs runs programs one instruction at a time. The processor tells which frames there are. A
// call makes a frame, and its CFA is known then. The frame is gone when SP is outward of that CFA.
// As long as the frame lives, its ID stays the same, with one exception: a jump to the beginning of
// a function, which the ID's code address shows, has made the frame that function's.
//
// In make soak, the test runs more instructions, and also other programs.
func TestIDs(t *testing.T) {
	steps, soak := 12_000, os.Getenv("SFWALK_SOAK") != ""
	if soak {
		steps = 100_000
	}
	for i, b := range []struct {
		name  string
		flags []string
	}{
		{"lazy", []string{"-O2", "-Wl,-z,lazy", "-fplt"}},
		{"debug information", []string{"-g", "-O2", "-Wl,-z,now"}},
		{"SFrame, stack protector", []string{"-O2", "-Wa,--gsframe", "-fstack-protector-all", "-fcf-protection", "-Wl,-z,lazy"}},
		{"static", []string{"-O2", "-static"}},
		{"O0", []string{"-O0"}},
	} {
		t.Run(b.name, func(t *testing.T) {
			gdbtest.Share(t, i)
			program := gdbtest.Build(t, "ids.c", b.flags...)
			s := startStepping(t, program)
			s.to(t, mainOf(t, program))
			followIDs(t, s, steps)
		})
	}
	if !soak {
		return
	}
	for _, command := range [][]string{
		{"/bin/sh", "-c", "for i in 1 2 3; do echo $i; done | cat"}, {"/bin/ls", "-lR", "/etc"}, {"/usr/bin/sort", "/etc/services"},
		{"/usr/bin/awk", "BEGIN { for (i = 0; i < 100; i++) s = s sprintf(\"%d\", i); print s }"}, {"/bin/sed", "-n", "s/a*b/x/p", "/etc/services"},
		{"/usr/bin/perl", "-e", "print join(',', sort map { $_ * 7 % 100 } 1..100)"}, {"/usr/bin/python3", "-c", "print(sorted(str(i) for i in range(1000)))"},
		{"/usr/bin/gdb", "--version"},
	} {
		t.Run(filepath.Base(command[0]), func(t *testing.T) {
			gdbtest.File(t, command[0])
			s := startStepping(t, command[0], command[1:]...)
			s.to(t, 0)
			followIDs(t, s, steps)
		})
	}
}

// mainOf returns the link-time address of a program's main function.
func mainOf(t *testing.T, program string) uint64 {
	im, f, err := elf.OpenFile(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found := im.Lookup("main", 1)
	if len(found) == 0 {
		t.Fatalf("%s has no main", program)
	}
	return found[0].Addr
}

// startStepping starts a program and stops it before its first instruction.
func startStepping(t *testing.T, program string, args ...string) *traced {
	runtime.LockOSThread()
	in, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Files: []*os.File{in, out, out}, Env: []string{"PATH=/bin:/usr/bin", "LC_ALL=C"}, Sys: &unix.SysProcAttr{Ptrace: true, Pdeathsig: unix.SIGKILL},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &traced{arch: amd64.Arch, tid: p.Pid}
	t.Cleanup(func() {
		unix.Kill(s.tid, unix.SIGKILL)
		var ws unix.WaitStatus
		for err := error(nil); err == nil && !ws.Exited() && !ws.Signaled() || errors.Is(err, unix.EINTR); {
			_, err = unix.Wait4(s.tid, &ws, unix.WALL, nil)
		}
		runtime.UnlockOSThread()
	})
	s.wait(t)
	s.remap(t)
	return s
}

// wait waits for the thread to stop.
func (s *traced) wait(t *testing.T) (ws unix.WaitStatus) {
	for {
		if _, err := unix.Wait4(s.tid, &ws, unix.WALL, nil); err == nil {
			break
		} else if !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
	}
	s.data = nil
	if ws.Stopped() {
		if err := unix.PtraceGetRegs(s.tid, &s.regs); err != nil {
			t.Fatal(err)
		}
	}
	return ws
}

// remap finds out what is mapped.
func (s *traced) remap(t *testing.T) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", s.tid))
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procmaps.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s.modules = procmaps.Modules(maps, func(at *procmaps.File) *target.Module {
		return target.NewModule(at.Path, at.Mappings, func() (*elf.Image, error) {
			if at.IsVDSO() {
				return elf.OpenMapped(s, at.Lo, at.Hi-at.Lo)
			}
			im, f, err := elf.OpenFile(at.Path)
			if err == nil {
				t.Cleanup(func() { f.Close() })
			}
			return im, err
		})
	})
}

// to runs to an address of the program, or to its entry point if the address is 0.
func (s *traced) to(t *testing.T, addr uint64) {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.tid))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.modules.All() {
		if m.Path != exe {
			continue
		}
		im, bias, err := m.Image()
		if err != nil {
			t.Fatal(err)
		}
		if addr == 0 {
			addr = im.Entry
		}
		addr += bias
		break
	}
	var was [1]byte
	unix.PtracePeekText(s.tid, uintptr(addr), was[:])
	if _, err := unix.PtracePokeText(s.tid, uintptr(addr), []byte{0xcc}); err != nil {
		t.Fatal(err)
	}
	if err := unix.PtraceCont(s.tid, 0); err != nil {
		t.Fatal(err)
	}
	if s.wait(t); s.regs.Rip != addr+1 {
		t.Fatalf("stopped at %#x, not at %#x", s.regs.Rip, addr)
	}
	unix.PtracePokeText(s.tid, uintptr(addr), was[:])
	s.regs.Rip = addr
	if err := unix.PtraceSetRegs(s.tid, &s.regs); err != nil {
		t.Fatal(err)
	}
	s.remap(t)
}

// jump reports whether an instruction jumps, always or not.
func jump(op x86asm.Op) bool { return strings.HasPrefix(op.String(), "J") }

// sameFunction reports whether two addresses are in parts of one function, by the names of their
// symbols.
func sameFunction(s *traced, a, b uint64) bool {
	name := func(at uint64) string {
		m := s.modules.Find(at)
		if m == nil {
			return ""
		}
		im, bias, err := m.Image()
		if err != nil {
			return ""
		}
		found, ok := im.Symbols().Find(at - bias)
		if !ok {
			return ""
		}
		whole, _, _ := strings.Cut(im.Symbols().Name(found), ".cold")
		return whole
	}
	x := name(a)
	return x != "" && x == name(b)
}

// lived is a frame that a call has made.
type lived struct {
	cfa  uint64
	id   frame.ID // when the frame was last seen
	from uint64   // PC then
}

func followIDs(t *testing.T, s *traced, steps int) {
	var frames []lived
	var stack *frame.Stack
	table := sniffer.Table(amd64.Arch)
	compared, nobody, wrong, calls, jumps, elsewhere, skipped := 0, 0, 0, 0, 0, 0, 0
	for n := 0; n < steps; n++ {
		before := s.regs
		code := make([]byte, 16)
		s.ReadMemory(before.Rip, code)
		in, _ := x86asm.Decode(code, 64)
		if err := unix.PtraceSingleStep(s.tid); err != nil {
			t.Fatal(err)
		}
		ws := s.wait(t)
		for ws.Stopped() && ws.StopSignal() != unix.SIGTRAP {
			if ws.StopSignal() == unix.SIGSEGV {
				t.Fatalf("the program fails at %#x", s.regs.Rip)
			}
			unix.PtraceSingleStep(s.tid) // without the signal
			ws = s.wait(t)
		}
		if !ws.Stopped() {
			break
		}
		now := &s.regs
		for len(frames) > 0 && frames[len(frames)-1].cfa <= now.Rsp {
			frames = frames[:len(frames)-1]
		}
		if in.Op == x86asm.CALL && now.Rip != before.Rip+uint64(in.Len) {
			frames = append(frames, lived{cfa: now.Rsp + 8})
			calls++
		}
		if in.Op == x86asm.SYSCALL && (before.Orig_rax == unix.SYS_MMAP || before.Rax == unix.SYS_MMAP || before.Rax == unix.SYS_MUNMAP || before.Rax == unix.SYS_MPROTECT) {
			s.remap(t)
			stack = nil
		}
		var err error
		if stack == nil {
			stack, err = frame.New(s, s, table)
		} else {
			err = stack.Reset(s, s)
		}
		if err != nil {
			t.Fatal(err)
		}
	list:
		for level := 0; level < min(len(frames), 8); level++ {
			at := &frames[len(frames)-1-level]
			f, _ := stack.Frame(level)
			if f == nil {
				break // NEXT has said that its caller is not known
			}
			id := f.ID()
			switch {
			case id.Null():
				nobody++
			case level == 0 && f.Row().Others.Lists(amd64.RSP):
				skipped++ // longjmp's row leads to the frame that it jumps to
				break list
			case id.Stack != at.cfa:
				t.Errorf("step %d, %#x: frame %d at %#x, by %s: ID %v, but its CFA is %#x", n, now.Rip, level, f.PC(), f.Sniffer(), id, at.cfa)
				wrong++
			case at.id.Null(), id == at.id:
			case level == 0 && (jump(in.Op) || in.Op == x86asm.NOP) && id.Code == now.Rip && !sameFunction(s, before.Rip, now.Rip):
				jumps++ // a tail call; or control goes on into the next function, behind the padding
			case level == 0 && jump(in.Op) && id.Code != at.id.Code && !sameFunction(s, before.Rip, now.Rip):
				elsewhere++ // a jump into another function's middle; or nothing tells which function the code is part of
			default:
				t.Errorf("step %d, %#x to %#x: frame %d, by %s: ID %v was %v at %#x", n, before.Rip, now.Rip, level, f.Sniffer(), id, at.id, at.from)
				wrong++
			}
			if !id.Null() {
				at.id, at.from = id, f.PC()
			}
			compared++
		}
		if wrong > 10 {
			t.Fatal("and so on")
		}
	}
	t.Logf("%d IDs compared, of which nobody could tell %d; %d calls, %d jumps to functions, %d elsewhere, %d skipped", compared, nobody, calls, jumps, elsewhere, skipped)
	if compared < steps || calls < steps/300 || nobody > compared/200 {
		t.Errorf("%d IDs compared in %d steps, of which nobody could tell %d; %d calls", compared, steps, nobody, calls)
	}
}
