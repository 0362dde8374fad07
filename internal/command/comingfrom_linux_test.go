package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// alike is a command of docs/coming-from.md and its peer.
type alike struct {
	ours  string
	peer  string   // a command of gdb ("gdb: bt"), or of the shell; empty where another test holds our output against the peer's
	wants []string // patterns that match both outputs, or, behind an exclamation mark, neither
}

// alikes are run on the demo's process and its core file. A pattern holds for the peer's output and
// for ours.
var alikes = []alike{
	{"sfwalk attach 4242", "gdb: thread apply all bt", []string{`<signal handler called[:>]`, `in (compute|nap) \(`, `\bon_tick \(`}},
	{"sfwalk attach 4242 --tid 4243", "gdb: thread apply $walker bt", []string{`(?s)visit.*walk_tree`, `!on_tick`}},
	{"sfwalk attach 4242 --max-frames 3", "gdb: thread apply $walker bt 3", []string{`#2 `, `!#6 `}},
	{"sfwalk attach 4242 --locals", "gdb: thread apply all bt full", []string{`sum = (<optimized out>|\d+)`, `node = \{10, 0`}},
	{"sfwalk attach 4242 --args", "gdb: thread apply all bt", []string{`on_tick \(sig=10\)`, `walk_tree \(depth=`}},
	{"sfwalk attach 4242 --locals --frame visit", "gdb: thread apply $walker -s -q frame apply all -q info args", []string{`\bleaf ?= ?`}},
	{"sfwalk attach 4242 --print depth", "gdb: thread apply all -s -q frame apply all -s p depth", []string{` = (1|<optimized out>)\b`}},
	{"sfwalk attach 4242 --registers", "gdb: thread apply $walker frame apply 1 info registers", []string{`\brip\b`, `\br15\b`}},
	{"sfwalk attach 4242 --explain", "gdb: thread apply $walker frame apply 2 info frame", []string{`caller of frame at 0x`, `[Pp]revious frame's sp is 0x`}},
	{"sfwalk attach 4242 --log sfwalk.log", "", []string{`on_tick \(`}}, // TestLog
	{"sfwalk attach 4242 --max-frames 1", "gdb: info threads", []string{`"ticker"`}},
	{"sfwalk attach 4242 --outer 3", "gdb: thread apply $walker bt -3", []string{`\bwalker \(`, `!visit \(`}},
	{"sfwalk attach 4242 --source", "gdb: list on_tick", []string{`83:?\s+nap\(3000\);`}},
	{"sfwalk attach 4242 --every 10ms --count 2", "", []string{`(?s)on_tick \(.*on_tick \(`}},
	{"sfwalk attach 4242 --every 10ms --count 2 --merge", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 --every 10ms --count 2 -o x.svg", "", nil},
	{"sfwalk attach 4242 -o x.txt", "", nil},
	{"sfwalk help attach", "", []string{`--consistent`}},
	{"sfwalk completion bash", "", []string{`complete .*sfwalk`}},
	{"sfwalk attach 4242 --modules", "", []string{`demo\.c:83.*/demo\b`}},
	{"sfwalk attach 4242 4243", "", []string{`(?s)Process \d+.*Process \d+`}},
	{"sfwalk attach --name nginx", "pgrep -x nginx", nil}, // no such process: both end with 1
	{"sfwalk attach --children 4242", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 --save snapshot.4242", "", []string{`on_tick \(`}},
	{"sfwalk core core.4242", "gdb-core: thread apply all bt", []string{`<signal handler called[:>]`, `\bon_tick \(`}},
	{"sfwalk core --exe ./server core.4242", "gdb-core: thread apply all bt", []string{`\bon_tick \(`}},
	{"sfwalk core core.4242 --exe ./server", "eu-stack --core core.4242 -e ./server", []string{`(?s)on_tick.*compute.*ticker`}},
	{"sfwalk core core.4242 --sysroot /srv/arm64-root", "", []string{`on_tick \(`}},
	{"sfwalk core core.4242 --sysroot /srv/web", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 --save 4242.dmp --format minidump", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 --debug-dir ./debug", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 --no-debuginfod", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 --locals --print-elements 10 --print-repeats 5 --print-depth 2", "", []string{`node = \{`}},
	{"sfwalk attach 4242 --locals --raw", "", []string{`node = \{`}},
	{"sfwalk attach 4242 --json", "", []string{`"function": ?"on_tick"`}},
	{"sfwalk attach 4242 --max-frames 2", "eu-stack -n 2 -p 4242", []string{`#1 `}},
	{"sfwalk attach 4242 --no-lines", "eu-stack -p 4242", []string{`(?s)on_tick.*compute.*ticker`, `!demo\.c`}},
	{"sfwalk attach 4242 --merge", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 --tree", "", []string{`on_tick \(`}},
	{"sfwalk attach 4242 -o x.svg", "", nil},
	{"sfwalk sframe gen FILE -o sections/x.sframe", "", nil},
	{"sfwalk sframe dump FILE", "", []string{`Version: SFRAME_VERSION_3`, `Num FDEs: \d+`}},
	{"sfwalk sframe verify FILE", "", []string{`FDE`}},
	{"sfwalk symbols dump FILE", "", []string{`(?m)^MODULE Linux x86_64 `}},
}

// elsewhere are the commands of the page that other tests hold against their peers: they take a Go
// program, a stub, plug-ins, or a client.
var elsewhere = map[string]string{
	"sfwalk attach 4242 --short": "TestShort", "sfwalk attach 4242 --full": "TestShort",
	"sfwalk dlv debug":                                                "TestDlvDebug",
	"sfwalk dlv test":                                                 "TestDlvDebug",
	"sfwalk dlv dap":                                                  "TestDlvDAP",
	"sfwalk attach 4242 --consistent":                                 "TestDeadlocks",
	"sfwalk record 4242 -d 10s -o profile.pb.gz":                      "TestRecordPage",
	"sfwalk record 4242 -d 10s -o profile.svg":                        "TestRecordPage",
	"sfwalk record 4242 -d 10s -o profile.speedscope":                 "TestRecordPage",
	"sfwalk record 4242 -d 10s -o profile.folded":                     "TestRecordPage",
	"sfwalk record 4242 --wall -d 10s -o wall.svg":                    "TestRecordPage",
	"sfwalk top 4242":                                                 "TestTopExamples",
	"sfwalk record -- ./server -port 8080":                            "TestRecordPage",
	"sfwalk record --system -d 10s":                                   "TestRecordPage",
	"sfwalk record 4242 --event page-faults":                          "TestRecordPage",
	"sfwalk record 4242 --event off-cpu -d 10s -o waits.svg":          "TestRecordPage",
	"sfwalk perf perf.data --http localhost:0":                        "TestPerfPages",
	"sfwalk perf perf.data --http localhost:0 --base before.pb.gz":    "TestPerfPages",
	"sfwalk record 4242 --http localhost:0 --base before.pb.gz":       "TestRecordPagesBase",
	"sfwalk record 4242 -d 10s -o profile.firefox.json":               "TestRecordPage",
	"sfwalk perf perf.data -o profile.firefox.json":                   "TestPerfPage",
	"sfwalk perf perf.data":                                           "TestPerfPage",
	"sfwalk perf perf.data -o profile.svg":                            "TestPerfPage",
	"sfwalk perf perf.data --format folded -o -":                      "TestPerfPage",
	"sfwalk perf perf.data --sysroot /srv/arm64-root":                 "TestPerfPage",
	"sfwalk perf perf.data --buildid-dir ./debug":                     "TestPerfPage",
	"coredumpctl dump COREDUMP_UNIT=nginx.service | sfwalk core -":    "TestCoreFromPipe",
	"sfwalk core --list":                                              "TestStoredPage",
	"sfwalk core --list nginx --since yesterday":                      "TestStoredPage",
	"sfwalk core --last":                                              "TestStoredPage",
	"sfwalk core --last nginx":                                        "TestStoredPage",
	"sfwalk core --last /usr/sbin/nginx":                              "TestStoredPage",
	"sfwalk core --match 4242":                                        "TestStoredPage",
	"sfwalk core --last --match COREDUMP_UID=1000":                    "TestStoredPage",
	"sfwalk core --list --json":                                       "TestStoredPage",
	"sfwalk core --list --coredump-dir /mnt/var/lib/systemd/coredump": "TestStoredPage",
	"sfwalk remote localhost:1234":                                    "TestRemoteIsLive",
	"sfwalk call 4242 'getpid()'":                                     "TestCallingPage",
	"sfwalk attach 4242 --goroutines":                                 "TestGoroutines",
	"sfwalk attach 4242 --goroutines --json":                          "TestGoroutines",
	"sfwalk attach --container web":                                   "TestContainers",
	"sfwalk attach --container api":                                   "TestContainers",
	"sfwalk attach --container shop":                                  "TestContainers",
	"sfwalk attach --container shop/nginx":                            "TestContainers",
	"sfwalk attach --container 0123456789abc":                         "TestContainers",
	"sfwalk record --container web -d 10s -o web.svg":                 "TestRecordChosen",
	"sfwalk top --container shop/nginx":                               "TestRecordChosen",
	"sfwalk record --cgroup system.slice/nginx.service -d 10s":        "TestRecordChosen",
	"sfwalk call 4242 'malloc_trim(0)'":                               "TestCallingPage",
	"sfwalk record 4242 --event page-faults -d 10s -o faults.svg":     "TestRecordPage",
	"sfwalk minidump crash.dmp":                                       "TestDocumentedCommands",
	"sfwalk minidump crash.dmp --merge":                               "TestDocumentedCommands",
	"sfwalk minidump crash.dmp --max-frames 3":                        "TestDocumentedCommands",
	"sfwalk minidump crash.dmp --json":                                "TestDocumentedCommands",
	"sfwalk minidump crash.dmp --info":                                "TestDocumentedCommands",
	"sfwalk minidump crash.dmp --symbols ./symbols --log sfwalk.log":  "TestDocumentedCommands",
	"sfwalk minidump crash.dmp --explain --registers":                 "TestDocumentedCommands",
	"sfwalk attach --cgroup system.slice/nginx.service":               "TestCgroups",
	"sfwalk attach 4242 --goroutines --format pprof -o x.pprof":       "TestGoroutineLabels",
	"sfwalk dlv --accept-multiclient exec --continue ./server":        "TestDlvContinue",
	"sfwalk attach 4242 --plugin ./sniffer-mine":                      "TestDocumentedCommands",
	"sfwalk dlv core ./server core.4242":                              "TestDocumentedCommands",
	"sfwalk dlv attach 4242":                                          "TestDocumentedCommands",
	"sfwalk dlv exec ./server":                                        "TestDocumentedCommands",
	"sfwalk minidump crash.dmp --symbols ./symbols":                   "TestDocumentedCommands",
}

// betweenTicks is how often a command looks again. Some milliseconds in three seconds the demo's
// ticker is in no signal handler.
const betweenTicks = 5

// misses says whether a text lacks the ticker's signal handler, of which a pattern speaks.
func misses(text string, patterns []string) bool {
	return !strings.Contains(text, "on_tick") && strings.Contains(strings.Join(patterns, "\n"), "on_tick")
}

// TestComingFrom runs the commands of docs/coming-from.md, and the commands of the tools that its
// readers come from.
func TestComingFrom(t *testing.T) {
	gdbtest.NeedAMD64(t)
	t.Setenv("LC_ALL", "C.UTF-8")
	known := comingFrom(t)
	p := commandtest.StartDemo(t)
	pid := strconv.Itoa(p.PID)
	exe, err := os.Readlink("/proc/" + pid + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("../../testdata/bin/mix-v3")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("debug", 0o777), os.Mkdir("sections", 0o777)); err != nil {
		t.Fatal(err)
	}
	// The demo's debug information names its source relative to the repository.
	if err := errors.Join(os.MkdirAll("internal/demo", 0o777), os.Symlink(filepath.Join(folder, "../demo/target"), "internal/demo/target")); err != nil {
		t.Fatal(err)
	}
	commandtest.GCore(t, p.PID, "core."+pid)
	names := strings.NewReplacer("4242 4243", pid+" "+strconv.Itoa(commandtest.StartDemo(t).PID), "core.4242", "core."+pid, "snapshot.4242", "snapshot."+pid, "4242", pid,
		"4243", strconv.Itoa(threadOf(t, pid, "walker")), "./server", exe, "/srv/arm64-root", "/", "/srv/web", "/", "FILE", file)
	// Releases of gdb number threads in different orders.
	walker := fmt.Sprintf("python [gdb.set_convenience_variable('walker', t.num) for t in gdb.selected_inferior().threads() if t.ptid[1] == %d]", threadOf(t, pid, "walker"))
	live := gdbAll(t, "gdb: ", "-p", pid, "-ex", walker)
	for range betweenTicks {
		if strings.Contains(live["gdb: thread apply all bt"], "on_tick") {
			break
		}
		live = gdbAll(t, "gdb: ", "-p", pid, "-ex", walker)
	}
	dead := gdbAll(t, "gdb-core: ", exe, "core."+pid)
	for _, a := range alikes {
		if !known[a.ours] {
			t.Errorf("docs/coming-from.md lacks %s", a.ours)
		}
		delete(known, a.ours)
		ours, errOut, err := command(strings.Fields(names.Replace(a.ours))[1:]...)
		for range betweenTicks {
			if err != nil || !misses(ours, a.wants) {
				break
			}
			ours, errOut, err = command(strings.Fields(names.Replace(a.ours))[1:]...)
		}
		if status := (exit.Status{}); errors.As(err, &status) && status.Err == nil {
			err = nil // verify has found something
		}
		failed := err != nil
		if a.wants != nil && failed {
			t.Errorf("%s: %v\n%s", a.ours, err, errOut)
			continue
		}
		outputs := map[string]string{a.ours: ours}
		if a.peer != "" {
			text, ok := live[a.peer]
			if !ok {
				text, ok = dead[a.peer]
			}
			if !ok {
				text = peer(t, names.Replace(a.peer), failed)
				for range betweenTicks {
					if !misses(text, a.wants) {
						break
					}
					text = peer(t, names.Replace(a.peer), failed)
				}
			}
			outputs[a.peer] = text
		}
		for name, text := range outputs {
			for _, want := range a.wants {
				pattern, absent := strings.CutPrefix(want, "!")
				if regexp.MustCompile(pattern).MatchString(text) == absent {
					t.Errorf("%s: want %s in:\n%s", name, want, text)
				}
			}
		}
	}
	tests := ""
	// A verb's tests are beside the verb.
	for _, file := range append(gdbtest.Glob(t, folder+"/*_test.go"), gdbtest.Glob(t, folder+"/*/*_test.go")...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests += string(text)
	}
	for c := range known {
		if name := elsewhere[c]; name == "" || !strings.Contains(tests, "\nfunc "+name+"(t *testing.T)") {
			t.Errorf("docs/coming-from.md has a command that no test runs: %s (%s)", c, name)
		}
	}
}

// comingFrom returns the commands of sfwalk on the page. A row has one, or says that there is none.
func comingFrom(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../../docs/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	commands, rows := map[string]bool{}, 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], " ---") || strings.TrimSpace(cells[2]) == "in sfwalk" {
			continue
		}
		rows++
		found := regexp.MustCompile("`([^`]*\\bsfwalk [a-z][^`]*)`").FindAllStringSubmatch(cells[2], -1)
		if len(found) == 0 && !strings.Contains(cells[2], "**No**") {
			t.Errorf("docs/coming-from.md: a row has no command, and does not say so: %s", line)
		}
		for _, m := range found {
			commands[strings.ReplaceAll(m[1], "\x00", "|")] = true
		}
	}
	if rows < 40 {
		t.Errorf("docs/coming-from.md has only %d rows", rows)
	}
	return commands
}

// gdbAll has one gdb run all of its commands in alikes, and returns what each prints.
func gdbAll(t *testing.T, kind string, args ...string) map[string]string {
	t.Helper()
	args = append([]string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off"}, args...)
	var commands []string
	for _, a := range alikes {
		if c, ok := strings.CutPrefix(a.peer, kind); ok {
			commands = append(commands, a.peer)
			args = append(args, "-ex", `echo \n=====\n`, "-ex", c)
		}
	}
	out, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).Output()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	parts := strings.Split(string(out), "\n=====\n")[1:]
	if len(parts) != len(commands) {
		t.Fatalf("gdb has run %d commands of %d:\n%s", len(parts), len(commands), out)
	}
	list := map[string]string{}
	for i, c := range commands {
		list[c] = parts[i]
	}
	return list
}

// peer runs another tool. It fails where sfwalk does.
func peer(t *testing.T, line string, fails bool) string {
	t.Helper()
	args := strings.Fields(line)
	cmd := exec.Command(gdbtest.Tool(t, args[0]), args[1:]...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	// eu-stack ends with 1 where it cannot unwind a stack to its end, and prints it.
	if (err != nil) != fails && args[0] != "eu-stack" {
		t.Errorf("%s: %v\n%s", line, err, &errOut)
	}
	return string(out)
}

// threadOf returns a thread of a process by its name.
func threadOf(t *testing.T, pid, name string) int {
	t.Helper()
	for _, dir := range gdbtest.Glob(t, fmt.Sprintf("/proc/%s/task/*", pid)) {
		if comm, err := os.ReadFile(dir + "/comm"); err == nil && strings.TrimSpace(string(comm)) == name {
			tid, _ := strconv.Atoi(filepath.Base(dir))
			return tid
		}
	}
	t.Fatalf("process %s has no thread %q", pid, name)
	return 0
}
