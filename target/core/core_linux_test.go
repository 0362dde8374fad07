package core

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
)

// gcore makes gdb write a core of a process, and returns its path.
func gcore(t *testing.T, pid int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "core")
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(pid), "-ex", "generate-core-file "+path).CombinedOutput()
	if _, statErr := os.Stat(path); err != nil || statErr != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	return path
}

// threadsCore is a core of a program with four threads.
func threadsCore(t *testing.T) (core, program string) {
	t.Helper()
	program = gdbtest.Build(t, "threads.c", gdbtest.Plain...)
	return gcore(t, gdbtest.Start(t, program, "3").PID), program
}

// kernelCore is the kernel's core of a program that calls a null pointer.
func kernelCore(t *testing.T) string {
	t.Helper()
	return kernelCoreOf(t, gdbtest.Build(t, "nullcall.c", gdbtest.Plain...))
}

// kernelCoreOf is the kernel's core of a program that dies if its argument is crash.
func kernelCoreOf(t *testing.T, program string) string {
	t.Helper()
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/") {
		gdbtest.Cannot(t, fmt.Sprintf("the kernel leaves no cores in the program's folder: core_pattern is %q", pattern))
	}
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `ulimit -c unlimited && exec "$0" crash`, program)
	cmd.Dir = dir
	cmd.Run()
	files, _ := filepath.Glob(filepath.Join(dir, "*core*"))
	if len(files) != 1 {
		gdbtest.Cannot(t, fmt.Sprintf("the program has left no core in %s: is RLIMIT_CORE 0?", dir))
	}
	return files[0]
}

func opened(t *testing.T, path string, o Options) *Target {
	t.Helper()
	tg, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// Every register of every thread is what gdb reads of the core.
func TestRegisters(t *testing.T) {
	path, program := threadsCore(t)
	registersAsGDB(t, path, program, amd64.Arch, 24)
}

// TestRegisters386 is TestRegisters for a process of 32-bit x86.
func TestRegisters386(t *testing.T) {
	program := gdbtest.Build386(t, "threads.c", "-O2")
	registersAsGDB(t, gcore(t, gdbtest.Start(t, program, "3").PID), program, i386.Arch, 16)
}

// registersAsGDB compares the registers of the four threads of a core, of which at least so many
// are read.
func registersAsGDB(t *testing.T, path, program string, a *arch.Arch, least int) {
	t.Helper()
	tg := opened(t, path, Options{})
	if tg.Arch() != a {
		t.Fatalf("a core of %s", tg.Arch().Name)
	}
	said := gdbtest.Batch(t, []string{program, path}, "thread apply all info registers")
	blocks := strings.Split(said, "\nThread ")[1:]
	threads, _ := tg.Threads()
	if len(blocks) != len(threads) || len(threads) != 4 {
		t.Fatalf("%d threads, gdb has %d", len(threads), len(blocks))
	}
	for _, block := range blocks {
		id, _ := strconv.Atoi(regexp.MustCompile(`LWP (\d+)`).FindStringSubmatch(block)[1])
		var regs arch.Registers
		for _, th := range threads {
			if th.ID() == id {
				if err := th.Registers(&regs); err != nil {
					t.Fatal(err)
				}
			}
		}
		n := 0
		for _, m := range regexp.MustCompile(`(?m)^(\w+) +0x([0-9a-f]+) `).FindAllStringSubmatch(block, -1) {
			want, _ := strconv.ParseUint(m[2], 16, 64)
			for _, r := range a.Regs {
				if r.Name != m[1] {
					continue
				}
				if got, ok := regs.Get(r.Num); !ok || got != want {
					t.Errorf("thread %d: %s is %#x (%v), gdb has %#x", id, r.Name, got, ok, want)
				}
				n++
			}
		}
		if n < least {
			t.Errorf("thread %d: only %d registers compared", id, n)
		}
	}
}

// Memory is what gdb reads: the core's own bytes, and the code that the core leaves out.
func TestMemory(t *testing.T) {
	path, program := threadsCore(t)
	tg := opened(t, path, Options{})
	var regs arch.Registers
	threads, _ := tg.Threads()
	threads[0].Registers(&regs)
	sp, pc := regs.Value[amd64.RSP], regs.Value[amd64.RIP]
	m := tg.Modules().Find(pc)
	if m == nil {
		t.Fatalf("no module at PC %#x", pc)
	}
	for _, addr := range []uint64{sp, pc, m.Lo(), m.Lo() + 0x2000} {
		dump := filepath.Join(t.TempDir(), "dump")
		gdbtest.Batch(t, []string{program, path}, fmt.Sprintf("dump binary memory %s %#x %#x", dump, addr, addr+512))
		want, err := os.ReadFile(dump)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 512)
		if n, err := tg.Memory().ReadMemory(addr, got); n != 512 || err != nil || !bytes.Equal(got, want) {
			t.Errorf("at %#x: %d bytes, %v; equal: %v", addr, n, err, bytes.Equal(got, want))
		}
	}
	for _, addr := range []uint64{0, 8, ^uint64(0) - 7, 0x4141414141414141} {
		if n, err := tg.Memory().ReadMemory(addr, make([]byte, 8)); n != 0 || !errors.Is(err, target.ErrUnmapped) {
			t.Errorf("at %#x: %d bytes, %v", addr, n, err)
		}
	}
}

// Modules have the paths and places that gdb tells, and the build IDs of readelf.
func TestModules(t *testing.T) {
	path, program := threadsCore(t)
	tg := opened(t, path, Options{})
	start := map[string]uint64{} // of each file, by gdb's reading of NT_FILE
	said := gdbtest.Batch(t, []string{program, path}, "info proc mappings")
	for _, m := range regexp.MustCompile(`(?m)^ *0x([0-9a-f]+) +0x[0-9a-f]+ +0x[0-9a-f]+ +0x0 +(/.*?) *$`).FindAllStringSubmatch(said, -1) {
		start[m[2]], _ = strconv.ParseUint(m[1], 16, 64)
	}
	seen := 0
	for _, m := range tg.Modules().All() {
		im, bias, err := m.Image()
		if err != nil {
			t.Error(err)
			continue
		}
		if m.Path == "[vdso]" {
			seen++
			continue
		}
		want, ok := start[m.Path]
		if !ok || m.Lo() != want || bias != want {
			t.Errorf("%s is at %#x, bias %#x, gdb has %#x", m.Path, m.Lo(), bias, want)
		}
		out, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", m.Path).Output()
		if err != nil || !strings.Contains(string(out), "Build ID: "+im.BuildID) {
			t.Errorf("%s: build ID %s: %v", m.Path, im.BuildID, err)
		}
		seen++
	}
	if seen < 4 || tg.Exe != program {
		t.Errorf("%d modules, exe %q", seen, tg.Exe)
	}
	if w := tg.Warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
}

// If a core says where the vDSO was but has none of its bytes, there is no such module, and no
// warning.
func TestWithoutVDSO(t *testing.T) {
	path, _ := threadsCore(t)
	lo := uint64(0)
	for _, m := range opened(t, path, Options{}).Modules().All() {
		if m.Path == "[vdso]" {
			lo = m.Lo()
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	headers, order := int(binary.LittleEndian.Uint64(data[32:])), binary.LittleEndian // e_phoff
	for i := range int(order.Uint16(data[56:])) {
		if p := data[headers+56*i:]; lo != 0 && order.Uint64(p[16:]) == lo { // p_vaddr
			order.PutUint64(p[32:], 0) // p_filesz
			lo = 0
		}
	}
	without := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(without, data, 0o600); err != nil || lo != 0 {
		t.Fatalf("the core's library at %#x: %v", lo, err)
	}
	tg := opened(t, without, Options{})
	for _, m := range tg.Modules().All() {
		if _, _, err := m.Image(); err != nil || m.Path == "[vdso]" {
			t.Errorf("%s: %v", m.Path, err)
		}
	}
	if w := tg.Warnings(); len(w) > 0 {
		t.Errorf("warnings %q", w)
	}
}
