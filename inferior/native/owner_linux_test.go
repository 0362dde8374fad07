package native_test

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The test binary is also an owner that is killed. This variable then has the process ID and a
// seed.
const ownerVariable = "SFWALK_NATIVE_TEST_OWNER"

func TestMain(m *testing.M) {
	v := os.Getenv(ownerVariable)
	if v == "" {
		os.Exit(m.Run())
	}
	var pid int
	var seed uint64
	fmt.Sscan(v, &pid, &seed)
	fmt.Println(own(pid, rand.New(rand.NewPCG(seed, 0))))
	os.Exit(1)
}

// own holds a process, and does all kinds of things to it until it is killed. It writes a byte for
// each.
func own(pid int, random *rand.Rand) error {
	symbols, err := readSymbols(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return err
	}
	os.Stdout.Write([]byte("."))
	p, err := native.Attach(context.Background(), pid, native.Options{})
	if err != nil {
		return err
	}
	fmt.Print(".")
	for {
		list := p.Inferiors()
		th := list[random.IntN(len(list))]
		what := random.IntN(3)
		if what == 1 && th.ID() == pid {
			continue // it is blocked: its next instruction is far
		}
		switch what {
		case 0:
			err = ownCall(p, th, symbols["add"], random.IntN(2) == 0)
		case 1:
			for range random.IntN(20) {
				err = errors.Join(err, ownResume(p, inferior.Resume{Thread: th, Step: true, Alone: random.IntN(2) == 0}, inferior.Stepped))
			}
		default:
			err = p.SetBreakpoint(symbols["step"])
			for range random.IntN(20) {
				err = errors.Join(err, ownResume(p, inferior.Resume{}, inferior.Breakpoint))
			}
			if random.IntN(2) == 0 {
				err = errors.Join(err, ownCall(p, th, symbols["step"], false))
			}
			err = errors.Join(err, p.ClearBreakpoint(symbols["step"]))
		}
		if err != nil {
			return err
		}
	}
}

// ownCall begins a call. Others' events may come meanwhile.
func ownCall(p *native.Process, th inferior.Thread, fn uint64, alone bool) error {
	returned, err := begin(p, th, fn, 1, 2)
	if err != nil {
		return err
	}
	for {
		if err := p.Resume(inferior.Resume{Thread: th, Alone: alone}); err != nil {
			return err
		}
		e, err := p.Wait(context.Background())
		fmt.Print(".")
		if err != nil {
			return err
		}
		pc, err := inferior.RegisterBytes(th, p.Arch().PC, 8)
		if err != nil {
			return err
		}
		if e.TID == th.ID() && p.Arch().Order.Uint64(pc) == returned {
			return th.Restore()
		}
		if e.Kind != inferior.Breakpoint {
			return fmt.Errorf("event %+v during a call", e)
		}
	}
}

func ownResume(p *native.Process, r inferior.Resume, kinds ...inferior.EventKind) error {
	if err := p.Resume(r); err != nil {
		return err
	}
	e, err := p.Wait(context.Background())
	fmt.Print(".")
	for _, kind := range kinds {
		if err != nil || e.Kind == kind {
			return err
		}
	}
	return fmt.Errorf("event %+v, want kind %v", e, kinds)
}

// An owner is killed in the middle of what it does. The process runs on as if nobody had ever held
// it.
func TestOwnerKilled(t *testing.T) { testOwnerKilled(t, 25) }

func TestOwnerKilledOften(t *testing.T) {
	gdbtest.NeedSoak(t)
	testOwnerKilled(t, 500)
}

func testOwnerKilled(t *testing.T, times int) {
	p := start(t, "loop", "8")
	random := rand.New(rand.NewPCG(1, uint64(times)))
	for i := range times {
		owner := exec.Command("/proc/self/exe")
		owner.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", ownerVariable, p.PID, i))
		out, err := owner.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		wait := make([]byte, 1+random.IntN(100))
		if _, err := io.ReadFull(out, wait); err != nil || strings.Trim(string(wait), ".") != "" {
			rest, _ := io.ReadAll(out)
			t.Fatalf("kill %d: the owner has ended: %s%s", i, wait, rest)
		}
		guard, _ := strconv.Atoi(status(t, p.PID, p.PID, "TracerPid")) // 0 at the beginning
		for range random.IntN(100_000) {
			random.Uint64() // some microseconds more
		}
		owner.Process.Kill()
		owner.Wait()
		free(t, p, guard)
	}
}

// free waits until a process is let go, and checks that it runs on as it did.
func free(t *testing.T, p *program, guard int) {
	t.Helper()
	gdbtest.Await(t, "the guard ends", func() bool { // where nobody takes its status it is a zombie
		return guard == 0 || strings.Trim(status(t, guard, guard, "State"), "Z (zombie)") == ""
	})
	gdbtest.Await(t, "all threads are let go", func() bool {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			if status(t, p.PID, tid, "TracerPid") != "0" {
				return false
			}
		}
		return true
	})
	undisturbed(t, p.PID)
	sameCode(t, p)
	before := p.value(t, "steps")
	gdbtest.Await(t, "the threads go on", func() bool { return p.value(t, "steps") != before })
}

// status returns a field of a thread's status, "" if it is no more.
func status(t testing.TB, pid, tid int, name string) string {
	t.Helper()
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(line, name+":\t"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// read reads a process's memory as it is.
func (p *program) read(t testing.TB, addr uint64, b []byte) {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	if _, err := mem.ReadAt(b, int64(addr)); err != nil {
		t.Fatalf("process %d: %v (%s)", p.PID, err, p.States(t))
	}
}

// value returns a variable of the program, a long.
func (p *program) value(t testing.TB, name string) int64 {
	t.Helper()
	var v [8]byte
	p.read(t, p.symbols[name], v[:])
	return int64(binary.NativeEndian.Uint64(v[:]))
}

// sameCode checks that the program's code is as in its file.
func sameCode(t testing.TB, p *program) {
	t.Helper()
	f, err := elf.Open(fmt.Sprintf("/proc/%d/exe", p.PID))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	want, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	p.read(t, s.Addr, got)
	if !bytes.Equal(got, want) {
		t.Errorf("the code of process %d differs from its file", p.PID)
	}
}
