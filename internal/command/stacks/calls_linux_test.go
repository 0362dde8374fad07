package stacks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// blockedThread is a thread of a document, and for what it waits in a system call.
type blockedThread struct {
	TID   int
	Name  string
	Waits *struct {
		Kind, Call, Path string
		Files            []struct {
			FD                                             int
			Kind, Path, Protocol, State, Local, Peer, Link string
			Ends                                           []struct{ PID int }
			Files                                          []struct {
				FD   int
				Kind string
			}
			Signals []string
			Watched int
		}
		Polled, Child     int
		Children, Holders []struct {
			PID   int
			Ended bool
		}
		AllChildren  int `json:"all_children"`
		Timed, Until bool
		Timeout      int64 `json:"timeout_ns"`
	} `json:"waits_for"`
}

func blockedOf(t *testing.T, page string, args ...string) map[string]blockedThread {
	t.Helper()
	out, stderr, err := commandtest.Run(append(args, "--json")...)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	commandtest.InPage(t, page, out)
	var doc struct{ Threads []blockedThread }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	list := map[string]blockedThread{}
	for _, th := range doc.Threads {
		list[th.Name] = th
	}
	return list
}

// factsOf starts the program waiting.c and returns what it says itself of its threads, by their
// names.
func factsOf(t *testing.T, program string) (p *gdbtest.Process, dir string, facts map[string][]string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "w") // a unix socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p = gdbtest.Start(t, program, dir)
	text, err := os.ReadFile(filepath.Join(dir, "facts"))
	if err != nil {
		t.Fatal(err)
	}
	facts = map[string][]string{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		facts[f[0]] = f[1:]
	}
	return p, dir, facts
}

// TestWaitsInCalls compares for what threads wait with what the program knows itself: numbers of
// its files, addresses by getsockname and getpeername, paths, its child's ID.
func TestWaitsInCalls(t *testing.T) {
	for _, bits := range []string{"64", "32"} {
		t.Run(bits, func(t *testing.T) {
			program := ""
			if bits == "64" {
				program = gdbtest.Build(t, "waiting.c", append([]string{"-pthread"}, gdbtest.Plain...)...)
			} else {
				program = gdbtest.Build386(t, "waiting.c", "-g", "-O2", "-static")
			}
			p, dir, facts := factsOf(t, program)
			for range 2 { // the second time, calls with a timeout have been gone on with
				compareWaits(t, blockedOf(t, "sfwalk attach", "attach", strconv.Itoa(p.PID)), dir, facts)
			}
		})
	}
}

// TestWaitsInShortWrites: a thread that had written a part when it was stopped waits, too.
func TestWaitsInShortWrites(t *testing.T) {
	for _, bits := range []string{"64", "32"} {
		t.Run(bits, func(t *testing.T) {
			program := ""
			if bits == "64" {
				program = gdbtest.Build(t, "widewrites.c", append([]string{"-pthread"}, gdbtest.Plain...)...)
			} else {
				program = gdbtest.Build386(t, "widewrites.c", "-g", "-O2", "-static")
			}
			p := gdbtest.Start(t, program)
			got := blockedOf(t, "sfwalk attach", "attach", strconv.Itoa(p.PID))
			for name, fd := range map[string]int{"pipe": 30, "socket": 31} {
				if w := got[name].Waits; w == nil || w.Kind != "write" || len(w.Files) != 1 || w.Files[0].FD != fd {
					t.Errorf("%s: %+v, want a write to %d", name, w, fd)
				}
			}
		})
	}
}

func compareWaits(t *testing.T, got map[string]blockedThread, dir string, facts map[string][]string) {
	t.Helper()
	child, _ := strconv.Atoi(facts["child"][0])
	for name, f := range facts {
		th, ok := got[name]
		if name == "child" {
			continue
		}
		w := th.Waits
		if !ok || w == nil {
			t.Errorf("%s: nothing is known of it", name)
			continue
		}
		local, peer := "", ""
		for i := 1; i+1 < len(f); i += 2 {
			switch f[i] {
			case "local":
				local = strings.Replace(f[i+1], "0.0.0.0:", "*:", 1)
			case "peer":
				peer = f[i+1]
			}
		}
		fd, _ := strconv.Atoi(f[0])
		kind, file := map[string][2]string{
			"flock": {"file lock", "file"}, "flock-left": {"file lock", "file"}, "fcntl": {"file lock", "file"}, "pipe-read": {"read", "pipe"}, "pipe-write": {"write", "pipe"},
			"accept": {"accept", "socket"}, "tcp-read": {"read", "socket"}, "tcp-recv": {"read", "socket"}, "tcp6-read": {"read", "socket"},
			"udp-recv": {"read", "socket"}, "unix-accept": {"accept", "socket"}, "unix-read": {"read", "socket"}, "eventfd": {"read", "eventfd"}, "own-files": {"read", "eventfd"},
			"timerfd": {"read", "timerfd"}, "poll": {"poll", "eventfd"}, "select": {"poll", "eventfd"}, "signalfd": {"read", "signalfd"},
			"inotify": {"read", "inotify"}, "epoll": {"poll", "epoll"}, "epoll-reused": {"poll", "epoll"}, "epoll-time": {"poll", "epoll"}, "waitpid": {"child", ""}, "wait-any": {"child", ""},
			"waitid": {"child", ""}, "sleep": {"sleep", ""}, "sleep-until": {"sleep", ""}, "pause": {"signal", ""}, "open": {"open", ""},
		}[name], ""
		if kind[0] == "" || w.Kind != kind[0] {
			t.Errorf("%s: %+v, want %s", name, *w, kind)
		}
		if file = kind[1]; file != "" && (len(w.Files) == 0 || w.Files[0].FD != fd || w.Files[0].Kind != file || w.Files[0].Local != local) {
			t.Errorf("%s: %+v, want fd %d, a %s, local %q", name, *w, fd, file, local)
			continue
		}
		is := func(ok bool, what string) {
			t.Helper()
			if !ok {
				t.Errorf("%s: %s: %+v, facts %v", name, what, *w, f)
			}
		}
		switch name {
		case "flock", "fcntl":
			is(w.Files[0].Path == f[1] && len(w.Holders) == 1 && w.Holders[0].PID == child && !w.Holders[0].Ended, "the child holds the lock")
		case "flock-left":
			taker, _ := strconv.Atoi(f[2])
			is(len(w.Holders) == 1 && w.Holders[0].PID == taker && w.Holders[0].Ended, "the process that took the lock has ended")
		case "pipe-read", "pipe-write":
			is(len(w.Files[0].Ends) == 1 && w.Files[0].Ends[0].PID == child, "the child has the other end")
		case "accept":
			is(w.Files[0].State == "LISTEN" && w.Files[0].Protocol == "TCP", "it listens")
		case "tcp-read", "tcp-recv", "tcp6-read":
			is(w.Files[0].Peer == peer && peer != "" && w.Files[0].State == "ESTABLISHED", "the peer")
		case "udp-recv":
			is(w.Files[0].Protocol == "UDP" && w.Files[0].Peer == "", "no peer")
		case "unix-accept":
			is(w.Files[0].Path == f[1] && w.Files[0].State == "LISTEN", "the path")
		case "unix-read":
			is(w.Files[0].Peer == f[1], "the peer's path")
		case "poll", "select":
			second, _ := strconv.Atoi(f[1])
			is(w.Polled == 2 && len(w.Files) == 2 && w.Files[1].FD == second && w.Timed, "two files")
			is(w.Timeout > 800e9 && w.Timeout < 1000e9, "the time")
		case "signalfd":
			is(slices.Equal(w.Files[0].Signals, []string{"SIGHUP", "SIGUSR1"}), "its signals")
		case "inotify":
			is(w.Files[0].Watched == 1, "what it watches")
		case "epoll":
			list := map[string]string{}
			for _, x := range w.Files[0].Files {
				list[strconv.Itoa(x.FD)] = x.Kind
			}
			is(w.Files[0].Watched == 2 && len(list) == 2 && list[f[1]] == "eventfd" && list[f[2]] == "socket" && !w.Timed, "its list")
		case "epoll-reused":
			second, _ := strconv.Atoi(f[1])
			list := w.Files[0].Files
			is(len(list) == 1 && list[0].FD == second && list[0].Kind == "", "the number leads elsewhere")
		case "epoll-time":
			is(w.Timed && w.Timeout == 777e9, "the time")
		case "waitpid", "waitid":
			is(w.Child == child && len(w.Children) == 1 && w.Children[0].PID == child, "the child")
		case "wait-any":
			is(w.Child == 0 && len(w.Children) == 1 && w.Children[0].PID == child, "any child")
		case "sleep":
			is(w.Timeout == 4321e9 || w.Timeout == 0, "the time")
		case "sleep-until":
			is(w.Until, "a set time")
		case "open":
			is(w.Path == f[1], "the path")
		}
	}
	if len(facts) < 26 || dir == "" {
		t.Errorf("%d facts", len(facts))
	}
}

// TestWaitsInCallsText has the lines below threads, of a process, of its snapshot, merged, and of a
// core, which has the numbers of files alone.
func TestWaitsInCallsText(t *testing.T) {
	p, dir, facts := factsOf(t, gdbtest.Build(t, "waiting.c", append([]string{"-pthread"}, gdbtest.Plain...)...))
	pid := strconv.Itoa(p.PID)
	child := fmt.Sprintf(`pid %s "waiting"`, facts["child"][0])
	tcp := facts["tcp-read"]
	peer, local := tcp[4], tcp[2]
	want := map[string]string{
		"tcp-read":  fmt.Sprintf("waits to read from fd %s: TCP socket to %s from %s", tcp[0], peer, local),
		"accept":    fmt.Sprintf("waits to accept a connection on fd %s: listening TCP socket %s", facts["accept"][0], facts["accept"][2]),
		"pipe-read": fmt.Sprintf("waits to read from fd %s: pipe from %s", facts["pipe-read"][0], child),
		"flock":     fmt.Sprintf("waits to lock fd %s: %s, held by %s", facts["flock"][0], facts["flock"][1], child),
		"waitpid":   "waits for its child, " + child,
		"wait-any":  "waits for its child, " + child,
		"pause":     "waits for a signal",
		"open":      "waits to open " + facts["open"][1],
	}
	saved := filepath.Join(dir, "saved")
	all, _, err := commandtest.Run("attach", pid, "--save", saved)
	if err != nil {
		t.Fatal(err)
	}
	opened, _, err := commandtest.Run("open", saved)
	if err != nil {
		t.Fatal(err)
	}
	for name, line := range want {
		for what, text := range map[string]string{"attach": all, "open": opened} {
			if !regexp.MustCompile(`(?m)^Thread \d+ "` + name + `"\n  ` + regexp.QuoteMeta(line) + `\n#0 `).MatchString(text) {
				t.Errorf("%s: no %q below %s in\n%s", what, line, name, text)
			}
		}
	}
	merged, _, err := commandtest.Run("attach", pid, "--merge")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"  wait for its child, " + child + "\n", "  1 thread waits to read: TCP socket to " + peer + "\n", " for other things\n"} {
		if !strings.Contains(merged, line) {
			t.Errorf("--merge: no %q in\n%s", line, merged)
		}
	}
	core := filepath.Join(dir, "core")
	commandtest.GCore(t, p.PID, core)
	text, _, err := commandtest.Run("core", core)
	if line := "\n  waits to accept a connection on fd " + facts["accept"][0] + "\n"; err != nil || !strings.Contains(text, line) {
		t.Errorf("core: %v, no %q in\n%s", err, line, text)
	}
}

// TestManyChildren: all of many children are counted, each of them has its name, and the other end
// of a pipe is found among them, though the process has many descriptors.
func TestManyChildren(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "manychildren.c", append([]string{"-pthread"}, gdbtest.Plain...)...))
	pid := strconv.Itoa(p.PID)
	line, err := p.Stdout.ReadString('\n')
	var first, last, pidfd int
	if n, _ := fmt.Sscan(line, &first, &last, &pidfd); err != nil || n != 3 {
		t.Fatalf("%q, %v", line, err)
	}
	said, err := exec.Command("ps", "-o", "pid=", "--ppid", pid).Output()
	children := len(strings.Fields(string(said)))
	if err != nil || children < 80 {
		t.Fatalf("%v\n%s", err, said)
	}
	if any := blockedOf(t, "sfwalk attach", "attach", pid)["any"].Waits; any == nil || any.AllChildren != children || len(any.Children) >= children {
		t.Errorf("%+v, want %d children", any, children)
	}
	of := func(pid int) string { return fmt.Sprintf("pid %d \"manychildren\"", pid) }
	want := []string{
		"  waits for any child: " + of(first) + ", ", fmt.Sprintf(" and %d more\n", children-3),
		"  waits for its child, " + of(last) + "\n", ": pipe from " + of(first) + "\n",
	}
	if pidfd >= 0 { // since Linux 5.4
		want = append(want, fmt.Sprintf("  waits for its child, %s (fd %d)\n", of(last), pidfd))
	}
	text, _, err := commandtest.Run("attach", pid)
	for _, line := range want {
		if err != nil || !strings.Contains(text, line) {
			t.Errorf("%v: no %q in\n%s", err, line, text)
		}
	}
}

// TestStopped says of a process that a signal has stopped that it is, and for what it waits all the
// same.
func TestStopped(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	pid := strconv.Itoa(p.PID)
	if text, _, err := commandtest.Run("attach", pid); err != nil || strings.Contains(text, "is stopped") {
		t.Errorf("%v\n%s", err, text)
	}
	if err := unix.Kill(p.PID, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer unix.Kill(p.PID, unix.SIGCONT)
	for {
		state, err := exec.Command("ps", "-o", "state=", "-p", pid).Output()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(state), "T") {
			break
		}
	}
	text, _, err := commandtest.Run("attach", pid)
	if err != nil || !strings.HasPrefix(text, "Process "+pid+" is stopped by a signal, such as SIGSTOP or Ctrl-Z\nThread "+pid) || !strings.Contains(text, "\n  waits to read from fd 0: pipe") {
		t.Errorf("%v\n%s", err, text)
	}
}
