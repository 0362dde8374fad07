//go:build linux && system

package systemtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A document is what sfwalk prints with --json, and what oracle.py writes.
type document struct {
	Threads []struct {
		TID    int
		Stop   string
		Error  string
		Frames []frame
	}
}

type frame struct {
	PC, CFA, Type, Function, Sniffer, Module string
	MovedOn                                  bool `json:"moved_on"`
}

// physical returns each thread's frames that stand on the stack themselves.
func (d *document) physical() map[int][]frame {
	list := map[int][]frame{}
	for _, th := range d.Threads {
		list[th.TID] = slices.DeleteFunc(slices.Clone(th.Frames), func(f frame) bool { return f.Type == "inline" || f.Type == "tailcall" })
	}
	return list
}

func parse(t *testing.T, text string) *document {
	t.Helper()
	var d document
	at := strings.IndexByte(text, '{') // warnings come first
	if at < 0 || json.NewDecoder(strings.NewReader(text[at:])).Decode(&d) != nil || len(d.Threads) == 0 {
		t.Fatalf("no document: %s", text)
	}
	return &d
}

// compare compares stacks with gdb's, frame by frame. gdb's frames must be there, in their places,
// and no others, unless gdb ends with an error: gdb 13 does so at s390x's signal frames of handlers
// with SA_SIGINFO. The CFA of a signal frame is not compared, and gdb tells none of the outermost
// frame.
func compare(t *testing.T, got, gdb *document) {
	t.Helper()
	want, frames, failed := gdb.physical(), 0, map[int]string{}
	for _, th := range gdb.Threads {
		failed[th.TID] = th.Error
	}
	for tid, list := range got.physical() {
		w := want[tid]
		for i, f := range w {
			if i >= len(list) || list[i].PC != f.PC || f.Type != "sigtramp" && f.CFA != "0x0" && f.CFA != "" && list[i].CFA != f.CFA || (list[i].Type == "sigtramp") != (f.Type == "sigtramp") {
				t.Errorf("thread %d, frame %d, gdb has %+v:\n%s\ngdb:\n%s", tid, i, f, lines(list), lines(w))
				break
			}
			frames++
		}
		if failed[tid] != "" && len(w) > 0 && len(list) > len(w) {
			t.Logf("thread %d: gdb has %d frames of %d: %s", tid, len(w), len(list), failed[tid])
		} else if len(w) == 0 || len(list) != len(w) {
			t.Errorf("thread %d has %d frames, gdb %d:\n%s\ngdb:\n%s", tid, len(list), len(w), lines(list), lines(w))
		}
	}
	if len(want) != len(got.Threads) {
		t.Errorf("%d threads, gdb has %d", len(got.Threads), len(want))
	}
	t.Logf("%d frames of %d threads", frames, len(want))
	equal.stacks, equal.frames = equal.stacks+len(want), equal.frames+frames
}

// equal counts the stacks and frames that were compared in one guest.
var equal struct{ stacks, frames int }

func lines(list []frame) string {
	var b strings.Builder
	for i, f := range list {
		fmt.Fprintf(&b, "  %d %+v\n", i, f)
	}
	return b.String()
}

// A subject is a program that runs in the guest.
type subject struct {
	name string
	path string // the same in the guest and here
	pid  string
}

// start starts a program in the guest, whose standard input is a pipe, PATH.in, and waits until
// it says that it is ready.
func (g *Guest) start(t *testing.T, s *subject) {
	t.Helper()
	g.Put(t, s.path, s.path)
	s.pid = strings.TrimSpace(g.Shell(t, patience, fmt.Sprintf(`
		ulimit -c unlimited; p=%s; mkfifo $p.in; exec 3<>$p.in
		setsid $p <&3 >$p.out 2>$p.err & pid=$!
		until grep -qi ready $p.out; do
			kill -0 $pid || { wait $pid; echo "exit status $?"; cat $p.out $p.err; exit 1; }; sleep 0.1
		done
		sleep 0.5; echo $pid`, s.path)))
	t.Cleanup(func() { g.Run(t, patience, g.Temp, "kill", "-9", s.pid) })
}

// stop stops the program, and waits until all its threads stand.
func (g *Guest) stop(t *testing.T, s *subject) {
	t.Helper()
	g.Shell(t, patience, fmt.Sprintf(`kill -STOP %[1]s
		while grep -h ^State: /proc/%[1]s/task/*/status | grep -qv T; do sleep 0.1; done`, s.pid))
}

// sfwalk runs sfwalk in the guest; some stacks may have ended early.
func (g *Guest) sfwalk(t *testing.T, args ...string) string {
	t.Helper()
	out, code := g.Run(t, patience, g.Temp, append([]string{"/bin/sfwalk"}, args...)...)
	if code != 0 && code != 3 {
		t.Fatalf("sfwalk %q: exit status %d\n%s", args, code, out)
	}
	return out
}

// gdb returns the stacks of a process by the gdb of the guest's system.
func (g *Guest) gdb(t *testing.T, s *subject) *document {
	t.Helper()
	script := filepath.Join(g.Source, "internal", "systemtest", "testdata", "oracle.py")
	out, here := s.path+".gdb", filepath.Join(g.Temp, "gdb.json")
	text := g.Shell(t, patience, fmt.Sprintf("OUT=%s gdb -nx -batch -p %s -x %s 2>&1", out, s.pid, script))
	if _, code := g.Run(t, patience, g.Temp, "test", "-e", out); code != 0 {
		t.Fatalf("gdb: %s", text)
	}
	g.Get(t, out, here)
	data, err := os.ReadFile(here)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

// subjects builds threads.c in each way in which the processor's compiler can keep frames.
func (g *Guest) subjects(t *testing.T) (list []*subject) {
	t.Helper()
	flags := [][]string{{"O2"}, {"O2", "fomit-frame-pointer", "static"}}
	switch g.GOARCH {
	case "arm64":
		flags = append(flags, []string{"O2", "mbranch-protection=standard"})
	case "s390x":
		flags = append(flags, []string{"O2", "mbackchain"})
	}
	for i, f := range flags {
		s := &subject{name: strings.Join(f, " "), path: filepath.Join(g.Temp, fmt.Sprintf("threads%d", i))}
		args := []string{"-g", "-pthread", "-o", s.path, filepath.Join("testdata", "threads.c")}
		for _, flag := range f {
			args = append(args, "-"+flag)
		}
		if text, err := exec.Command(g.Triple+"-gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, text)
		}
		list = append(list, s)
	}
	return list
}

// attach compares stacks of live processes with the stacks that the system's own gdb shows.
func (g *Guest) attach(t *testing.T) {
	for _, s := range g.subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			g.start(t, s)
			g.stop(t, s)
			inTurn := parse(t, g.sfwalk(t, "attach", "--json", s.pid))
			gdb := g.gdb(t, s)
			compare(t, inTurn, gdb)
			compare(t, parse(t, g.sfwalk(t, "attach", "--consistent", "--json", s.pid)), gdb)
			run := map[string]bool{} // by the source, for threads that gdb cannot walk
			for _, th := range inTurn.Threads {
				for _, f := range th.Frames {
					if strings.HasPrefix(f.Function, "run_") {
						run[f.Function] = true
					}
				}
				if th.Stop != "outermost" || slices.ContainsFunc(th.Frames, func(f frame) bool { return f.MovedOn }) {
					t.Errorf("thread %d, which stands still: %s %s\n%s", th.TID, th.Stop, th.Error, lines(th.Frames))
				}
			}

			if len(run) != 7 {
				t.Errorf("of seven threads, these are whole: %v", run)
			}
			for _, format := range []string{"2", "3"} {
				compare(t, g.sframe(t, s, format, 20), gdb)
			}

			// The snapshot reads the same on this machine.
			saved := s.path + ".snapshot"
			g.sfwalk(t, "attach", "--save", saved, s.pid)
			g.Get(t, saved, saved)
			compare(t, parse(t, g.here(t, "open", "--sysroot", g.Root, "--exe", s.path, "--json", saved)), gdb)
			if n := signed(t, g.core(t, s), inTurn); strings.Contains(s.name, "branch-protection") != (n >= 10) {
				t.Errorf("%d return addresses are signed", n)
			}
		})
	}
}

// signed counts the words of a core file that are signed return addresses.
func signed(t *testing.T, core string, d *document) (n int) {
	t.Helper()
	const address = 1<<48 - 1
	data, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	callers := map[uint64]bool{}
	for _, list := range d.physical() {
		for _, f := range list[1:] {
			pc, _ := strconv.ParseUint(f.PC, 0, 64)
			callers[pc] = true
		}
	}
	for ; len(data) >= 8; data = data[8:] {
		if w := binary.LittleEndian.Uint64(data); w > address && callers[w&address] {
			n++
		}
	}
	return n
}

// sframe makes an SFrame section of the program, and returns the stacks by it, which must have at
// least least frames.
func (g *Guest) sframe(t *testing.T, s *subject, format string, least int) *document {
	t.Helper()
	dir := filepath.Join(g.Temp, filepath.Base(s.path)+".sframe"+format)
	if os.Mkdir(dir, 0o755) == nil { // the first time
		g.here(t, "sframe", "gen", s.path, "-o", dir, "--format", format)
		g.PutTree(t, dir)
	}
	d := parse(t, g.sfwalk(t, "attach", "--sframe-dir", dir, "--json", s.pid))
	by := 0
	for _, th := range d.Threads {
		for _, f := range th.Frames {
			if f.Sniffer == "sframe" {
				by++
			}
		}
	}
	if by < least {
		t.Errorf("SFrame %s: %d frames are by it", format, by)
	}
	return d
}

// here runs sfwalk on this machine.
func (g *Guest) here(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(g.Temp, "sfwalk.here")
	if _, err := os.Stat(path); err != nil {
		cmd := exec.Command("go", "build", "-o", path, "./cmd/sfwalk")
		cmd.Dir = g.Source
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	cmd := exec.Command(path, args...)
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 3 {
		t.Fatalf("sfwalk %q: %v", args, err)
	}
	return string(out)
}

// core has the kernel write a core file of the process, and compares its stacks, as sfwalk reads
// them on this machine, with gdb-multiarch's. It returns the file.
func (g *Guest) core(t *testing.T, s *subject) (core string) {
	t.Helper()
	core = s.path + ".core"
	out := s.path + ".coregdb"
	g.Shell(t, patience, fmt.Sprintf(`echo %[2]s > /proc/sys/kernel/core_pattern; kill -ABRT %[1]s; kill -CONT %[1]s
		while [ -d /proc/%[1]s ] && ! grep -q "^State:.*Z" /proc/%[1]s/status; do sleep 0.1; done`, s.pid, core))
	g.Get(t, core, core)
	cmd := exec.Command("gdb-multiarch", "-nx", "-batch", "-iex", "set sysroot "+g.Root, "-iex", "set debug-file-directory "+filepath.Join(g.Root, "usr/lib/debug"),
		"-x", filepath.Join("testdata", "oracle.py"), s.path, core)
	cmd.Env = append(os.Environ(), "OUT="+out)
	text, err := cmd.CombinedOutput()
	data, err2 := os.ReadFile(out)
	if err != nil || err2 != nil {
		t.Fatalf("gdb-multiarch: %v, %v\n%s", err, err2, text)
	}
	compare(t, parse(t, g.here(t, "core", "--sysroot", g.Root, "--exe", s.path, "--json", core)), parse(t, string(data)))
	return core
}
