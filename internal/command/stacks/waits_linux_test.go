package stacks_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// waitsDocument is what a test reads of a document.
type waitsDocument struct {
	Threads []struct {
		TID    int
		Name   string
		Frames []struct{ Function string }
		Waits  *struct {
			Kind, Name, Call                 string
			Owner, Gone, Readers             int
			Reads, Ownerless, Timed, Refused bool
		} `json:"waits_for"`
	}
	Deadlocks []struct {
		Threads []int
		Timed   bool
	}
}

// waitsOf runs a command and reads its document.
func waitsOf(t *testing.T, page string, args ...string) (doc waitsDocument) {
	t.Helper()
	out, stderr, err := commandtest.Run(append(args, "--json")...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	commandtest.InPage(t, page, out)
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	for i := range doc.Threads {
		if w := doc.Threads[i].Waits; w != nil && w.Call != "" { // not for a lock
			doc.Threads[i].Waits = nil
		}
	}
	return doc
}

// gdbOwners returns what gdb reads as the owners of first_lock and second_lock, by an expression
// with one %s.
func gdbOwners(t *testing.T, pid int, expression string) map[string]int {
	t.Helper()
	args := []string{"-nx", "-batch", "-p", strconv.Itoa(pid)}
	for _, lock := range []string{"first", "second"} {
		args = append(args, "-ex", "printf \"owner of "+lock+": %d\\n\", "+fmt.Sprintf(expression, lock))
	}
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).CombinedOutput()
	owners := map[string]int{}
	for _, m := range regexp.MustCompile(`owner of (\w+): (\d+)`).FindAllStringSubmatch(string(out), -1) {
		owners[m[1]], _ = strconv.Atoi(m[2])
	}
	if len(owners) != 2 || owners["first"] == 0 {
		t.Fatalf("gdb reads %v of %s: %v\n%s", owners, expression, err, out)
	}
	return owners
}

// check compares the owners with what gdb reads, and returns how many threads wait for a lock that
// has one.
func (doc *waitsDocument) check(t *testing.T, owners map[string]int, kind string) (n int) {
	t.Helper()
	for _, th := range doc.Threads {
		if th.Waits == nil || th.Waits.Owner == 0 {
			continue
		}
		n++
		lock, _, _ := strings.Cut(strings.ToLower(th.Waits.Name), "_")
		if th.Waits.Kind != kind || owners[lock] != th.Waits.Owner {
			t.Errorf("thread %d waits for %+v; gdb: %v", th.TID, *th.Waits, owners)
		}
	}
	return n
}

const mutexOwner, rwlockOwner = "%s_lock.__data.__owner", "%s_rwlock.__data.__cur_writer"

// TestDeadlocks compares the owners of locks for which threads wait with what gdb reads of the
// locks.
func TestDeadlocks(t *testing.T) {
	program := gdbtest.Build(t, "deadlock.c", append([]string{"-pthread"}, gdbtest.Plain...)...)
	for _, tt := range []struct {
		kind       string
		expression string // "" for locks that gdb cannot tell the owner of
		is         string
		owned      int // threads that wait for what has an owner
		deadlocks  int
	}{
		{"normal", mutexOwner, "mutex", 2, 1},
		{"recursive", mutexOwner, "mutex", 2, 1},
		{"errorcheck", mutexOwner, "mutex", 2, 1},
		{"robust", mutexOwner, "mutex", 2, 1},
		{"shared", mutexOwner, "mutex", 2, 1},
		{"timed", mutexOwner, "mutex", 2, 1},
		{"self", mutexOwner, "mutex", 2, 2},
		{"inherit", mutexOwner, "mutex", 1, 0},
		{"held", mutexOwner, "mutex", 2, 0},
		{"write", rwlockOwner, "rwlock", 2, 1},
		{"writer", rwlockOwner, "rwlock", 2, 1},
		{"read", "", "rwlock", 0, 0},
		{"join", "", "thread", 2, 1},
		{"file", "", "file", 2, 1},
		{"cond", "", "condition", 0, 0},
		{"sem", "", "semaphore", 0, 0},
		{"barrier", "", "barrier", 0, 0},
		{"gone", "", "mutex", 0, 0},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			p := gdbtest.Start(t, program, tt.kind)
			doc := waitsOf(t, "sfwalk attach", "attach", strconv.Itoa(p.PID), "--consistent")
			if tt.kind == "inherit" { // the kernel refuses the one that comes last, or both if they come at once
				refused := 0
				for _, th := range doc.Threads {
					if th.Waits != nil && th.Waits.Refused {
						refused++
					}
				}
				if tt.owned = 2 - refused; refused == 0 {
					t.Errorf("no thread was refused its lock: %+v", doc)
				}
			}
			if tt.expression != "" {
				if n := doc.check(t, gdbOwners(t, p.PID, tt.expression), tt.is); n != tt.owned {
					t.Errorf("%d threads wait for locks with owners, want %d: %+v", n, tt.owned, doc)
				}
			}
			if len(doc.Deadlocks) != tt.deadlocks {
				t.Errorf("deadlocks %+v, want %d: %+v", doc.Deadlocks, tt.deadlocks, doc)
			}
			for _, d := range doc.Deadlocks {
				if want := 2 / tt.deadlocks; len(d.Threads) != want || d.Timed != (tt.kind == "timed") || slices.Contains(d.Threads, p.PID) {
					t.Errorf("deadlock %+v, want %d threads", d, want)
				}
			}
			waiting, owned := 0, 0
			for _, th := range doc.Threads {
				w := th.Waits
				if (w != nil) != (th.TID != p.PID) {
					t.Errorf("thread %d waits for %+v", th.TID, w)
					continue
				}
				if w == nil {
					continue
				}
				waiting++
				if w.Owner != 0 {
					owned++
				}
				if w.Kind != tt.is {
					t.Errorf("thread %d waits for %+v, want a %s", th.TID, w, tt.is)
				}
				if tt.kind == "read" && w.Readers != 1 || tt.kind == "gone" && w.Gone == 0 || w.Reads != (tt.kind == "writer") || w.Refused && tt.kind != "inherit" {
					t.Errorf("thread %d waits for %+v", th.TID, w)
				}
			}
			if owned != tt.owned || waiting == 0 {
				t.Errorf("%d of %d waiting threads wait for what has an owner, want %d", owned, waiting, tt.owned)
			}
			if tt.kind == "normal" || tt.kind == "join" {
				text, _, _ := commandtest.Run("attach", strconv.Itoa(p.PID), "--consistent")
				pattern := `\nThread (\d+) "one"\n  waits for the mutex 0x[0-9a-f]+ \(second_lock\), held by thread (\d+) "two"\n#0 (.*\n)*\ndeadlock: thread \d+ waits for the mutex 0x[0-9a-f]+ \(\w+_lock\), held by \d+, which waits for the mutex 0x[0-9a-f]+ \(\w+_lock\), held by \d+\n$`
				if tt.kind == "join" {
					pattern = `\nThread (\d+) "one"\n  waits for the end of thread (\d+) "two"\n#0 (.*\n)*\ndeadlock: thread \d+ waits for the end of thread \d+ "\w+", which waits for the end of thread \d+ "\w+"\n$`
				}
				if !regexp.MustCompile(pattern).MatchString(text) {
					t.Errorf("text\n%s", text)
				}
				for _, flag := range []string{"--merge", "--tree"} {
					if text, _, _ := commandtest.Run("attach", strconv.Itoa(p.PID), "--consistent", flag); strings.Count(text, "\ndeadlock: ") != 1 {
						t.Errorf("%s: text\n%s", flag, text)
					}
				}
				if text, _, _ := commandtest.Run("attach", strconv.Itoa(p.PID)); strings.Contains(text, "waits for") || strings.Contains(text, "deadlock:") {
					t.Errorf("threads are not of one moment, and yet:\n%s", text)
				}
			}
		})
	}
}

// TestDeadlocksOfFiles finds in a core file, and in snapshots, what is found in the process.
func TestDeadlocksOfFiles(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "deadlock.c", append([]string{"-pthread"}, gdbtest.Plain...)...), "normal")
	pid := strconv.Itoa(p.PID)
	dir := t.TempDir()
	owners := gdbOwners(t, p.PID, mutexOwner)
	if _, stderr, err := commandtest.Run("attach", pid, "--consistent", "--save", filepath.Join(dir, "together")); err != nil {
		t.Fatal(err, stderr)
	}
	if _, stderr, err := commandtest.Run("attach", pid, "--save", filepath.Join(dir, "in-turn")); err != nil {
		t.Fatal(err, stderr)
	}
	commandtest.GCore(t, p.PID, filepath.Join(dir, "core"))
	for _, args := range [][]string{{"open", filepath.Join(dir, "together")}, {"core", filepath.Join(dir, "core")}} {
		doc := waitsOf(t, "sfwalk "+args[0], args...)
		if n := doc.check(t, owners, "mutex"); n != 2 || len(doc.Deadlocks) != 1 {
			t.Errorf("%v: %d threads wait for mutexes; deadlocks %+v", args, n, doc.Deadlocks)
		}
	}
	if doc := waitsOf(t, "sfwalk open", "open", filepath.Join(dir, "in-turn")); len(doc.Deadlocks) > 0 {
		t.Errorf("threads are not of one moment: %+v", doc.Deadlocks)
	}
}

// TestDeadlocksOfLanguages has locks of other libraries and languages.
func TestDeadlocksOfLanguages(t *testing.T) {
	source := func(name string) string { return gdbtest.Testdata(t, "progs", name) }
	for _, tt := range []struct {
		name             string
		command          func(t *testing.T) []string
		args             string
		is               string
		owned, deadlocks int
		expression       string
	}{
		{"C++", func(t *testing.T) []string {
			return []string{gdbtest.Build(t, "deadlock.cc", append([]string{"-pthread", "-std=c++20"}, gdbtest.Plain...)...)}
		}, "", "mutex", 2, 1, "%s_lock._M_mutex.__data.__owner"},
		{"stripped, static", func(t *testing.T) []string {
			return []string{gdbtest.Build(t, "deadlock.c", "-pthread", "-O2", "-static", "-s"), "normal"}
		}, "", "mutex", 2, 1, ""},
		{"musl", func(t *testing.T) []string {
			return []string{gdbtest.Compile(t, source("deadlock.c"), gdbtest.Tool(t, "musl-gcc"), "-g", "-O2"), "recursive"}
		}, "", "mutex", 2, 1, "%s_lock.__u.__i[1] & 0x3fffffff"},
		{"musl, normal", func(t *testing.T) []string {
			return []string{gdbtest.Compile(t, source("deadlock.c"), gdbtest.Tool(t, "musl-gcc"), "-g", "-O2"), "normal"}
		}, "", "mutex", 0, 0, ""},
		{"Rust", func(t *testing.T) []string {
			return []string{gdbtest.Compile(t, source("deadlock.rs"), gdbtest.Tool(t, "rustc"), "--edition=2021", "-g")}
		}, "", "mutex", 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := tt.command(t)
			p := gdbtest.Start(t, args[0], args[1:]...)
			doc := waitsOf(t, "sfwalk attach", "attach", strconv.Itoa(p.PID), "--consistent")
			n := 0
			for _, th := range doc.Threads {
				if w := th.Waits; w != nil {
					if n++; w.Kind != tt.is || w.Ownerless != (tt.owned == 0) || (w.Owner != 0) != (tt.owned > 0) {
						t.Errorf("thread %d waits for %+v", th.TID, *w)
					}
				}
			}
			if n != 2 || len(doc.Deadlocks) != tt.deadlocks {
				t.Errorf("%d threads wait, deadlocks %+v, want 2 and %d", n, doc.Deadlocks, tt.deadlocks)
			}
			if tt.expression != "" {
				doc.check(t, gdbOwners(t, p.PID, tt.expression), tt.is)
			}
		})
	}
}

// TestNoDeadlock looks at threads that take locks in one order, again and again: at no moment is
// there a deadlock, and a thread never waits for itself.
func TestNoDeadlock(t *testing.T) {
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "deadlock.c", append([]string{"-pthread"}, gdbtest.Plain...)...), "healthy")
	waits := 0
	for range 40 {
		doc := waitsOf(t, "sfwalk attach", "attach", strconv.Itoa(p.PID), "--consistent", "--no-lines")
		if len(doc.Deadlocks) > 0 {
			t.Fatalf("a deadlock: %+v", doc)
		}
		for _, th := range doc.Threads {
			if w := th.Waits; w != nil {
				waits++
				if w.Owner == th.TID || w.Gone != 0 || w.Kind != "mutex" {
					t.Errorf("thread %d waits for %+v", th.TID, *w)
				}
			}
		}
	}
	t.Logf("%d waits", waits)
}
