//go:build linux

package guesttest

import (
	_ "embed"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

//go:embed crash.py
var crashPy string

// BuildCrashing builds testdata/progs/breakpad/crashing.cc with the C++ compiler for the processor.
// A program that is not static finds its libraries below Debian's folder of cross libraries.
func (p *Processor) BuildCrashing(t testing.TB, flags ...string) *Guest {
	t.Helper()
	cmd := []string{gdbtest.Tool(t, p.Triple+"-g++"), "-std=c++17"}
	proc := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "breakpad", "proc.cc"), append(cmd, "-O1", "-c")...)
	path := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "breakpad", "crashing.cc"), append(append(cmd, flags...), "-Wl,--build-id", proc)...)
	return &Guest{Processor: p, Path: path, Root: "/usr/" + p.Triple}
}

// Crash runs the guest, of BuildCrashing, once for each point and has it die there of SIGSEGV.
// Breakpad's own core2md, which runs under qemu, too, makes minidumps of qemu's core files: they
// are the points' arguments.
func (g *Guest) Crash(t testing.TB, points []gdbtest.CrashPoint) {
	t.Helper()
	source := gdbtest.BreakpadSource(t)
	core2md := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "breakpad", "core2md.cc"), gdbtest.Tool(t, g.Triple+"-g++"),
		"-std=c++17", "-O1", "-w", "-Wno-psabi", "-static", "-I"+filepath.Join(source, "src"), "-I"+source)
	params := g.params(t, "")
	params["points"] = points
	script := gdbtest.StartScript(t, "gdb-multiarch", connectPy+crashPy, params, g.Path)
	next := func() (record struct {
		Point  int
		Frames []gdbtest.Frame
	}) {
		line := script.Next(t)
		if line == nil {
			t.Fatal("gdb's script has ended too early")
		}
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("gdb's answer: %v", err)
		}
		return record
	}
	for i := range points {
		next()
		proc := filepath.Join(t.TempDir(), "proc")
		stub, process := g.serve(t, true, proc)
		script.Answer(t, stub)
		points[i].Frames = next().Frames
		select {
		case <-process.exited:
		case <-time.After(time.Until(gdbtest.Deadline(t))):
			t.Fatal("the guest does not end")
		}
		if points[i].Frames == nil {
			continue
		}
		convert := exec.Command(gdbtest.Tool(t, g.QEMU), core2md, process.core(t), proc, points[i].Argument)
		if out, err := convert.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", convert.Args, err, out)
		}
	}
	if script.Next(t) != nil {
		t.Fatal("gdb's script has a record too many")
	}
}
