package native_test

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/abi"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/inferior/native"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// ownerVariable has the test binary be an owner: it holds the process, and calls a function of it, sets
// breakpoints and steps, until it is killed.
const ownerVariable = "SFWALK_TEST_OWNER"

func TestMain(m *testing.M) {
	if text := os.Getenv(ownerVariable); text != "" {
		if err := own(text); err != nil {
			fmt.Println(err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// own is the owner. text has the process's ID, and addresses of two functions.
func own(text string) error {
	var pid int
	var add, step uint64
	if _, err := fmt.Sscanf(text, "%d %x %x", &pid, &add, &step); err != nil {
		return err
	}
	ctx := context.Background()
	for {
		p, err := native.Attach(ctx, pid, native.Options{})
		if err != nil {
			return err
		}
		fmt.Print(".")
		c, err := inferior.NewCaller(p, p.Thread(pid))
		if err != nil {
			return err
		}
		for i := range uint64(5) {
			result, err := c.Call(ctx, add, longFunc(long, long), longArgs(40, i))
			if err != nil || !bytes.Equal(result, word(40+i)) {
				return fmt.Errorf("add: %x, %v", result, err)
			}
			fmt.Print(".")
		}
		if err := p.SetBreakpoint(step); err != nil {
			return err
		}
		for range 20 {
			if err := p.Resume(inferior.Resume{}); err != nil {
				return err
			}
			e, err := p.Wait(ctx)
			if err != nil || e.Kind != inferior.Breakpoint {
				return fmt.Errorf("event %+v, %v", e, err)
			}
			fmt.Print(".")
		}
		if err := p.Close(); err != nil {
			return err
		}
	}
}

// longFunc is the type of a function that returns a long.
func longFunc(params ...*abi.Type) *abi.Func { return &abi.Func{Result: long, Params: params} }

func longArgs(values ...uint64) (args []abi.Value) {
	for _, v := range values {
		args = append(args, abi.Value{Type: long, Bytes: word(v)})
	}
	return args
}

func word(v uint64) []byte {
	return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24), byte(v >> 32), byte(v >> 40), byte(v >> 48), byte(v >> 56)}
}

// An owner that is killed at any moment leaves the process as it was: its code, its threads, what they do.
func TestOwnerKilled(t *testing.T) {
	kills := 25
	if os.Getenv("SFWALK_SOAK") != "" {
		kills = 500
	}
	p := start(t, "loop", "8")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range kills {
		owner := exec.CommandContext(t.Context(), "/proc/self/exe")
		owner.Env = append(os.Environ(), fmt.Sprintf("%s=%d %x %x", ownerVariable, p.PID, p.symbols["add"], p.symbols["step"]))
		out, err := owner.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := owner.Start(); err != nil {
			t.Fatal(err)
		}
		// The owner tells of each step, so that it is killed after some of them, wherever it is by then.
		if _, err := io.ReadFull(out, make([]byte, 1+random.IntN(60))); err != nil {
			t.Fatal(err)
		}
		for range random.IntN(1 << 20) { // a moment of up to half a millisecond
		}
		owner.Process.Kill()
		rest, _ := io.ReadAll(out)
		owner.Wait()
		if said := strings.Trim(string(rest), "."); said != "" {
			t.Fatalf("the owner says %s", said)
		}
		gdbtest.Await(t, "the process is let go", func() bool { return free(p.PID) })
		undisturbed(t, p.PID)
		p.unchanged(t)
		if t.Failed() {
			t.Fatalf("after %d kills", i+1)
		}
	}
	before := p.counter(t)
	gdbtest.Await(t, "the threads go on", func() bool { return p.counter(t) > before })
	p.Stdin.Write([]byte("x"))
	if line, err := p.Stdout.ReadString('\n'); err != nil || !strings.HasPrefix(line, "loop 1 0") {
		t.Errorf("%q, %v", line, err)
	}
}

// free reports whether nobody traces a thread of a process.
func free(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if !strings.Contains(string(text), "TracerPid:\t0\n") {
			return false
		}
	}
	return true
}

// counter is how often the program's threads have counted.
func (p *program) counter(t *testing.T) uint64 { return p.value(t, "steps") }

// value reads a variable of the program.
func (p *program) value(t *testing.T, name string) uint64 {
	t.Helper()
	b := make([]byte, 8)
	p.read(t, p.symbols[name], b)
	var n uint64
	for i := range b {
		n |= uint64(b[i]) << (8 * i)
	}
	return n
}

func (p *program) read(t *testing.T, addr uint64, b []byte) {
	t.Helper()
	f, err := os.Open("/proc/" + strconv.Itoa(p.PID) + "/mem")
	if err == nil {
		defer f.Close()
		_, err = f.ReadAt(b, int64(addr))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unchanged checks that the program's code is that of its file.
func (p *program) unchanged(t *testing.T) {
	t.Helper()
	f, err := elf.Open("/proc/" + strconv.Itoa(p.PID) + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	want, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if p.read(t, text.Addr, got); !bytes.Equal(got, want) {
		t.Error("the code of the process is not that of its file")
	}
}
