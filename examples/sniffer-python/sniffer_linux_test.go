// Package sniffer tests the sniffer in Python.
package sniffer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/plugincheck"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	sniffers "github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// DWARF's numbers
const (
	rbp = 6
	rsp = 7
)

// folder sets up a folder as README.md says, and returns the plug-in's path.
func folder(t *testing.T) string {
	t.Helper()
	gdbtest.Tool(t, "openssl")
	gdbtest.Later(t, "python3")
	if out, err := exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").CombinedOutput(); err != nil {
		gdbtest.Missing(t, fmt.Sprintf("python3-grpcio is not installed: %v %s", err, out))
	}
	folder := t.TempDir()
	for _, name := range []string{"sniffer.py", "sfwalk_plugin.py"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	protocol, err := filepath.Abs("../../plugin/protocol")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Tool(t, "protoc"), "-I", protocol, "--python_out="+folder, "sniffer.proto").CombinedOutput(); err != nil {
		t.Fatalf("protoc: %v %s", err, out)
	}
	return filepath.Join(folder, "sniffer.py")
}

// start starts the plug-in, which must not print anything.
func start(t *testing.T) *external.Plugin {
	t.Helper()
	var stderr bytes.Buffer
	p, err := external.Start(context.Background(), external.Options{Path: folder(t), Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if text := stderr.String(); text != "" {
			t.Errorf("it wrote: %s", text)
		}
	})
	return p
}

// program builds target/jit.c. With frame pointers, a wrong rbp leads main's frame astray.
func program(t *testing.T) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	path, err := filepath.Abs("target/jit.c")
	if err != nil {
		t.Fatal(err)
	}
	return gdbtest.Compile(t, path, gdbtest.Tool(t, "cc"), "-g", "-O2", "-Wall", "-Werror", "-fno-omit-frame-pointer")
}

// A function is one function of a stack: its name, and its frame.
type function struct {
	name, by string
	frame    *frame.Frame
	cfa      uint64
}

// walk unwinds the first thread: with the plug-in, or without if p is nil.
func walk(t *testing.T, tg target.Target, p *external.Plugin, of external.Target) ([]function, error) {
	t.Helper()
	threads, err := tg.Threads()
	if err != nil {
		t.Fatal(err)
	}
	table := sniffers.Table(tg.Arch())
	var s *external.Sniffer
	if p != nil {
		s = p.Sniffer(of)
		external.Insert(table, s)
	}
	stack, err := frame.New(tg, threads[0], table)
	if err != nil {
		t.Fatal(err)
	}
	names := symbol.New(symbol.Options{})
	defer names.Close()
	var list []function
	for f, err := range stack.All() {
		if err != nil {
			return list, err
		}
		x := function{frame: f, by: f.Sniffer()}
		x.cfa, _ = f.CFA()
		if at := names.Locate(tg.Modules(), f.AddressInBlock()); len(at) > 0 {
			x.name = at[len(at)-1].Function // behind the inlined calls
		}
		if s != nil && x.name == "" {
			name, _ := s.Symbol(f.AddressInBlock(), x.cfa)
			x.name = name.Function
		}
		list = append(list, x)
	}
	return list, nil
}

func names(list []function) string {
	var text []string
	for _, f := range list {
		text = append(text, f.name)
	}
	return strings.Join(text, " ")
}

// TestPython unwinds a live process.
func TestPython(t *testing.T) {
	path := program(t)
	process := gdbtest.Start(t, path)
	line, err := process.Stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	runCFA, err := strconv.ParseUint(strings.TrimSpace(line), 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	tg, err := live.Attach(context.Background(), process.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	of := external.Target{PID: process.PID, Live: true}

	if list, err := walk(t, tg, nil, of); err == nil || strings.Contains(names(list), "main") {
		t.Errorf("without the plug-in the stack is whole: %s", names(list))
	}

	list, err := walk(t, tg, start(t), of)
	if err != nil {
		t.Fatalf("%s: %v", names(list), err)
	}
	if text := names(list); !strings.Contains(text, " rest inner middle outer run main ") || !strings.HasSuffix(text, " _start") {
		t.Fatalf("the stack is %s", text)
	}
	for i, f := range list {
		if compiled := f.frame.Module() == nil; compiled != (f.by == "jit-python") {
			t.Errorf("%s was claimed by %s", f.name, f.by)
		}
		if f.name != "run" {
			continue
		}
		if f.cfa != runCFA {
			t.Errorf("run's CFA is %#x, the compiler says %#x", f.cfa, runCFA)
		}
		compareOuter(t, path, process.PID, list[i:])
	}
	conforms(t, tg)
}

// conforms runs the conformance test on the plug-in, with the stack that was walked.
func conforms(t *testing.T, tg *live.Target) {
	t.Helper()
	snapshot, err := tg.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "snapshot"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(snapshot.Write(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	for try := 1; ; try++ {
		report, err := plugincheck.Run(context.Background(), folder(t), plugincheck.Options{Snapshots: []string{file.Name()}})
		if err != nil {
			t.Fatal(err)
		}
		if report.Passed() && report.Claimed == 3 {
			return
		}
		if try == 5 || !late(report) {
			var text strings.Builder
			report.Write(&text)
			t.Fatalf("it claims %d frames, want 3; the report:\n%s", report.Claimed, &text)
		}
	}
}

// late reports whether nothing but an answer that came late has failed: on a busy machine, Python
// may take too long.
func late(r *plugincheck.Report) bool {
	failed := 0
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Status == plugincheck.Fail {
			if failed++; c.Name != "deadline" {
				return false
			}
		}
	}
	return failed == 1
}

// compareOuter gives gdb run's registers, as unwound through the compiled frames, and compares the
// stack that gdb makes from them. The process does not survive that.
func compareOuter(t *testing.T, path string, pid int, list []function) {
	t.Helper()
	args := []string{"-nx", "-batch", "-p", strconv.Itoa(pid), "-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on"}
	for _, r := range []struct {
		name  string
		dwarf trad.Reg
	}{{"rbx", 3}, {"rbp", rbp}, {"rsp", rsp}, {"r12", 12}, {"r13", 13}, {"r14", 14}, {"r15", 15}, {"rip", 16}} {
		v := list[0].frame.Register(r.dwarf)
		if !v.Known() {
			t.Fatalf("run's %s is %v", r.name, v)
		}
		args = append(args, "-ex", fmt.Sprintf("set $%s = %#x", r.name, v.Bits))
	}
	for i := range list {
		args = append(args, "-ex", fmt.Sprintf("frame %d", i), "-ex", `printf "frame %#lx %#lx\n", $pc, $rsp`)
	}
	args = append(args, "-ex", "frame 0", "-ex", "bt", "-ex", "kill")
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range list {
		sp := f.frame.Register(rsp)
		if want := fmt.Sprintf("\nframe %#x %#x\n", f.frame.PC(), sp.Bits); strings.Count(string(out), want) != 1 {
			t.Errorf("frame %d, %s: gdb does not say %q:\n%s", i, f.name, want, out)
		}
	}
}

// TestPythonEverywhere stops at each instruction of a compiled function, and unwinds the core file
// that gdb writes there.
func TestPythonEverywhere(t *testing.T) {
	path := program(t)
	folder := t.TempDir()
	const stops = 8
	args := []string{"-nx", "-batch", path, "-ex", "set breakpoint pending off", "-ex", "break run", "-ex", "run < /dev/null",
		"-ex", "tbreak *jit_table[0].lo", "-ex", "continue"}
	for i := range stops {
		args = append(args, "-ex", `printf "stop %#lx %#lx %#lx\n", $pc, $rsp, $rbp`,
			"-ex", "generate-core-file "+filepath.Join(folder, strconv.Itoa(i)), "-ex", "nexti")
	}
	args = append(args, "-ex", `printf "stop %#lx %#lx %#lx\n", $pc, $rsp, $rbp`, "-ex", "kill")
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var at [][3]uint64 // pc, rsp, rbp at each stop
	for line := range strings.Lines(string(out)) {
		var s [3]uint64
		if n, _ := fmt.Sscanf(line, "stop %v %v %v", &s[0], &s[1], &s[2]); n == 3 {
			at = append(at, s)
		}
	}
	if len(at) != stops+1 || at[stops][1] != at[0][1]+8 {
		t.Fatalf("the function does not return after %d instructions:\n%s", stops, out)
	}
	p := start(t)
	for i, s := range at[:stops] {
		tg, err := core.Open(filepath.Join(folder, strconv.Itoa(i)), core.Options{Exe: path})
		if err != nil {
			t.Fatal(err)
		}
		defer tg.Close()
		list, err := walk(t, tg, p, external.Target{})
		if err != nil || !strings.HasPrefix(names(list), "inner middle outer run main ") {
			t.Errorf("at %#x: %s: %v", s[0], names(list), err)
			continue
		}
		// At the first instruction, rsp points to the return address, and rbp is the caller's;
		// PREVIOUS is where the function returns to.
		if list[0].cfa != at[0][1]+8 {
			t.Errorf("at %#x: the CFA is %#x, want %#x", s[0], list[0].cfa, at[0][1]+8)
		}
		if pc := list[1].frame.PC(); pc != at[stops][0] {
			t.Errorf("at %#x: PREVIOUS is at %#x, want %#x", s[0], pc, at[stops][0])
		}
		if v := list[1].frame.Register(rbp); !v.Known() || v.Bits != at[0][2] {
			t.Errorf("at %#x: PREVIOUS's rbp is %v, want %#x", s[0], v, at[0][2])
		}
	}
}

// TestPythonDeclines has the sniffer decline a process that compiles nothing.
func TestPythonDeclines(t *testing.T) {
	process := gdbtest.Start(t, gdbtest.Build(t, "jit.c", "-O2"))
	tg, err := live.Attach(context.Background(), process.PID, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	p := start(t)
	list, _ := walk(t, tg, p, external.Target{PID: process.PID, Live: true})
	asked := false
	for _, f := range list {
		if f.frame.Module() == nil {
			asked = true
			if why := declined(f.frame, "jit-python"); !strings.Contains(why, "no jit_table") {
				t.Errorf("it declines since %q", why)
			}
		}
	}
	if !asked || p.Err() != nil {
		t.Errorf("no frame without a file was there to ask about (%s), or %v", names(list), p.Err())
	}
}

// declined returns why a sniffer has declined a frame.
func declined(f *frame.Frame, name string) string {
	for _, d := range f.Claim().Declined {
		if d.Sniffer == name {
			return d.Reason
		}
	}
	return ""
}

// TestPythonEnds starts the plug-in like a host that dies at once, and like a user by hand.
func TestPythonEnds(t *testing.T) {
	path := folder(t)
	ctx, cancel := context.WithDeadline(context.Background(), gdbtest.Deadline(t))
	defer cancel()
	sockets := t.TempDir()
	cmd := exec.CommandContext(ctx, path)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), protocol.CookieKey + "=" + protocol.CookieValue, "PLUGIN_UNIX_SOCKET_DIR=" + sockets}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if want := fmt.Sprintf("1|1|unix|%s/sniffer-%d|grpc|\n", sockets, cmd.Process.Pid); line != want {
		t.Errorf("it says %q (%v), want %q", line, err, want)
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil || ctx.Err() != nil {
		t.Errorf("without a host: %v %v", err, ctx.Err())
	}
	if left, err := os.ReadDir(sockets); err != nil || len(left) > 0 {
		t.Errorf("it leaves behind %v (%v)", left, err)
	}

	out, err := exec.CommandContext(ctx, path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "sfwalk attach --plugin "+path+" PID") {
		t.Errorf("by hand: %v %s", err, out)
	}
}
