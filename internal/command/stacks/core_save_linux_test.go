package stacks_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// framesOf returns "PC function" of each thread's frames, by thread ID, inlined calls included.
func framesOf(t *testing.T, args ...string) map[int][]string {
	t.Helper()
	out, errOut, err := commandtest.Run(append(args, "--json")...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errOut)
	}
	var doc struct {
		Threads []struct {
			TID    int
			Frames []struct{ PC, Function string }
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	stacks := map[int][]string{}
	for _, th := range doc.Threads {
		for _, f := range th.Frames {
			stacks[th.TID] = append(stacks[th.TID], f.PC+" "+f.Function)
		}
	}
	return stacks
}

// TestSaveCoreAsMinidump: of gdb's core of a process, and of a snapshot, a minidump has the stacks
// that gdb shows of the process, by minidump_stackwalk and by ours.
func TestSaveCoreAsMinidump(t *testing.T) {
	for _, tt := range []struct {
		program []string
		peer    bool // minidump_stackwalk reads one stack of a thread, not both
	}{{[]string{"threads.c", "3", "4"}, true}, {[]string{"sighandler.c", "alt", "middle"}, false}} {
		program := gdbtest.Build(t, tt.program[0], "-O2", "-fomit-frame-pointer", "-gdwarf-4")
		p := gdbtest.Start(t, program, tt.program[1:]...)
		dir, store := t.TempDir(), t.TempDir()
		saved, file := filepath.Join(dir, "snapshot"), filepath.Join(dir, "core")
		if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", saved); err != nil {
			t.Fatal(err)
		}
		commandtest.GCore(t, p.PID, file)
		want := gdbtest.Backtrace(t, p.PID)
		commandtest.DumpSyms(t, store, program, gdbtest.File(t, "/lib/x86_64-linux-gnu/libc.so.6"))
		for verb, from := range map[string]string{"core": file, "open": saved} {
			path := filepath.Join(dir, verb+".dmp")
			printed := framesOf(t, verb, from)
			if _, errOut, err := commandtest.Run(verb, from, "--save", path, "--format", "minidump"); err != nil || strings.Contains(errOut, "--max-saved") {
				t.Fatalf("%s: %v\n%s", verb, err, errOut)
			}
			ours := framesOf(t, "minidump", path)
			if len(ours) != len(want) {
				t.Errorf("%s: %d threads, gdb has %d", verb, len(ours), len(want))
			}
			peer := map[int][]uint64{}
			if tt.peer {
				ids := threadIDs(t, path)
				stacks := commandtest.PeerStacks(t, path, store)
				if len(ids) != len(stacks) {
					t.Fatalf("%s: minidump_stackwalk has %d threads of %d", verb, len(stacks), len(ids))
				}
				for i, id := range ids {
					peer[id] = stacks[i]
				}
			}
			for _, thread := range want {
				if a, b := strings.Join(printed[thread.TID], "\n"), strings.Join(ours[thread.TID], "\n"); a != b || a == "" {
					t.Errorf("%s %s: thread %d:\n%s\nthe core has\n%s", tt.program[0], verb, thread.TID, b, a)
				}
				n := 0
				var physical []string
				for _, f := range thread.Frames {
					if f.Physical() {
						physical = append(physical, "0x"+strconv.FormatUint(f.PC, 16))
						if tt.peer && (n >= len(peer[thread.TID]) || peer[thread.TID][n] != f.PC) {
							t.Errorf("%s: thread %d: minidump_stackwalk has %#x, gdb %s at %#x in frame %d", verb, thread.TID, peer[thread.TID], f.Function, f.PC, n)
							break
						}
						n++
					}
				}
				got := map[string]bool{}
				for _, f := range ours[thread.TID] {
					pc, _, _ := strings.Cut(f, " ")
					got[pc] = true
				}
				for _, pc := range physical {
					if !got[strings.ToLower(pc)] && !got["0x"+strings.Repeat("0", 16-len(pc)+2)+pc[2:]] {
						t.Errorf("%s %s: thread %d: gdb's %s is missing in %q", tt.program[0], verb, thread.TID, pc, ours[thread.TID])
					}
				}
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			notes, err := exec.Command(gdbtest.Tool(t, "readelf"), "-n", program).Output()
			out, _, _ := commandtest.Run("minidump", path, "--json")
			_, id, _ := strings.Cut(string(notes), "Build ID: ")
			id, _, _ = strings.Cut(id, "\n")
			if err != nil || id == "" || !strings.Contains(out, strings.TrimSpace(id)) {
				t.Errorf("%s: no build ID %q in %s", verb, id, out)
			}
		}
	}
}

// threadIDs returns the thread IDs of a dump, in its order.
func threadIDs(t *testing.T, path string) (ids []int) {
	t.Helper()
	dump, err := minidump.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	for i := range dump.Threads {
		ids = append(ids, int(dump.Threads[i].ID))
	}
	return ids
}

// TestSaveCrashAsMinidump: the minidump of the kernel's core says what the process died of, also to
// minidump_stackwalk.
func TestSaveCrashAsMinidump(t *testing.T) {
	file := coreOfCrash(t, gdbtest.Build(t, "nullcall.c", gdbtest.Plain...), "crash")
	path := filepath.Join(t.TempDir(), "dmp")
	if _, _, err := commandtest.Run("core", file, "--save", path, "--format", "minidump"); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(gdbtest.Breakpad(t, "minidump_stackwalk"), path).Output()
	if err != nil || !strings.Contains(string(out), "Crash reason:  SIGSEGV /SEGV_MAPERR\nCrash address: 0x0\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSaveCoreFlags: what --save and --format of a core take, and that a small --max-saved is said.
func TestSaveCoreFlags(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	dir := t.TempDir()
	saved, path := filepath.Join(dir, "snapshot"), filepath.Join(dir, "dmp")
	if _, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--save", saved); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--save", path}, {"--save", path, "--format", "core"}, {"--format", "minidump"}} {
		for _, verb := range []string{"core", "open"} {
			_, _, err := commandtest.Run(append([]string{verb, saved}, args...)...)
			if usage := (exit.Usage{}); !errors.As(err, &usage) {
				t.Errorf("%s %v: %v", verb, args, err)
			}
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file is there: %v", err)
	}
	if _, errOut, err := commandtest.Run("open", saved, "--save", path, "--format", "minidump", "--max-saved", "512"); err != nil || !strings.Contains(errOut, "--max-saved") {
		t.Errorf("%v: %s", err, errOut)
	}
}
