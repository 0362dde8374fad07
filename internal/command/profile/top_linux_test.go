package profile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/record"
)

// multiplexed is a terminal of tmux.
type multiplexed struct {
	t      *testing.T
	tmux   string
	socket string
}

// multiplex runs a command in a terminal of 100 by 24 characters. When it has ended, the terminal
// has its exit code.
func multiplex(t *testing.T, command string) *multiplexed {
	t.Helper()
	m := &multiplexed{t, gdbtest.Tool(t, "tmux"), filepath.Join(t.TempDir(), "socket")}
	t.Cleanup(func() { exec.Command(m.tmux, "-S", m.socket, "kill-server").Run() })
	m.do("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "24", command+`; echo "exit code $?"; read line`)
	return m
}

func (m *multiplexed) do(args ...string) string {
	m.t.Helper()
	cmd := exec.Command(m.tmux, append([]string{"-u", "-S", m.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// await waits until the screen shows what a pattern matches, and returns what it shows.
func (m *multiplexed) await(pattern string) (screen string) {
	m.t.Helper()
	re := regexp.MustCompile(pattern)
	defer func() {
		if m.t.Failed() {
			m.t.Logf("the screen is\n%s", screen)
		}
	}()
	gdbtest.Await(m.t, "the screen has "+pattern, func() bool {
		screen = m.do("capture-pane", "-p")
		if strings.Contains(screen, "exit code") && !strings.Contains(pattern, "exit code") {
			m.t.Fatalf("want %s\n%s", pattern, screen)
		}
		return re.MatchString(screen)
	})
	return screen
}

func (m *multiplexed) keys(keys ...string) { m.do(append([]string{"send-keys"}, keys...)...) }

// top shows functions, threads and stacks, and what its keys say.
func TestTop(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread"), "2", "5")
	sfwalk := filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk")
	m := multiplex(t, fmt.Sprintf("%s top %d -F 499 --every 100ms", sfwalk, p.PID))
	m.await(`(?s)^top of \d+ \(shares\) .* samples.*OWN▼ +TOTAL.* half\n.* deeper\n`)
	m.keys("2")
	screen := m.await(`(?s)TOTAL▼.* half\n`)
	if regexp.MustCompile(`100\.0% .* deeper\n`).FindString(screen) == "" { // all samples are in it, or in what it has called
		t.Errorf("deeper has not all samples:\n%s", screen)
	}
	m.keys("t")
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	if err != nil || len(tasks) != 3 {
		t.Fatalf("%d threads: %v", len(tasks), err)
	}
	m.await(fmt.Sprintf(`(?s)THREAD.*shares (%s|%s) *\n`, tasks[1].Name(), tasks[2].Name()))
	m.keys("t", "1")
	m.await(`OWN▼.*FUNCTION`)
	m.keys("Enter")
	m.await(`(?s)The stacks with (half|three_tenths|one_fifth)\n[\d.]+%, \d+ samples *\n#0 .* deeper at .*shares\.c:\d+\n`)
	m.keys("Escape")
	m.await(`FUNCTION`)
	m.keys("Space")
	m.await(`paused`)
	m.keys("q")
	m.await(`exit code 0`)
}

// When the process ends, the screen says so and stays.
func TestTopEnds(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	sfwalk := filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk")
	m := multiplex(t, fmt.Sprintf("%s top %d --every 100ms", sfwalk, p.PID))
	m.await(` half\n`)
	process, err := os.FindProcess(p.PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	m.await(`it has ended`)
	m.keys("C-c")
	m.await(`exit code 0`)
}

// The examples of the help and of the page run.
func TestTopExamples(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	text, err := os.ReadFile("../../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	cmd, _, err := commandtest.New(nil).Find([]string{"top"})
	if err != nil {
		t.Fatal(err)
	}
	programs := commandtest.Install(t, "sfwalk", "sfwalk-full")
	ran := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^ +sfwalk top [^#\n]*`).FindAllString(string(text)+"\n"+cmd.Example, -1) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "4242", strconv.Itoa(p.PID))
		if ran[line] || strings.Contains(line, "--container") { // TestRecordChosen has containers
			continue
		}
		ran[line] = true
		m := multiplex(t, filepath.Join(programs, line))
		m.await(` s   \d+ samples`)
		m.keys("q")
		m.await(`exit code 0`)
	}
	if len(ran) < 3 {
		t.Errorf("only %d commands: %v", len(ran), ran)
	}
}

// The numbers are pprof's for the same stacks.
func TestTopNumbers(t *testing.T) {
	stacks := &picture.Stacks{Types: []picture.Type{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, PeriodType: picture.Type{Name: "cpu", Unit: "nanoseconds"}, Period: 1}
	add := func(tid, n int64, names ...string) {
		var places []picture.Place
		for i, name := range names {
			places = append(places, picture.Place{Function: name, Address: uint64(0x1000*(i+1) + len(name))})
		}
		stacks.Add(places, picture.Sample{Values: []int64{n, n * 1000}, Numbers: []picture.Number{{Key: "tid", Value: tid}}})
	}
	add(1, 5, "leaf", "recursive", "recursive", "main")
	add(1, 2, "recursive", "recursive", "main")
	add(2, 4, "other", "main")
	add(2, 1, "leaf", "other", "main")
	add(3, 3, "leaf")
	m := newTopModel(nil, "nanoseconds", false)
	m.add(stacks, time.Second, record.Stats{Samples: 15})
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := stacks.WritePprof(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(gdbtest.Tool(t, "go"), "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=100", "-sample_index=samples", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, x := range regexp.MustCompile(`(?m)^ +(\d+) +\S+ +\S+ +(\d+) +\S+ +(\w+)`).FindAllStringSubmatch(string(text), -1) {
		want[x[3]] = x[1] + " " + x[2]
	}
	rows, all := m.rows()
	if len(rows) != len(want) || len(want) != 4 || all != 15 {
		t.Errorf("%d functions, %d samples; pprof has\n%s", len(rows), all, text)
	}
	for i := range rows {
		r := &rows[i]
		if got := fmt.Sprintf("%d %d", r.recent.own, r.recent.total); got != want[r.name] {
			t.Errorf("%s: %s, want %s", r.name, got, want[r.name])
		}
		if r.since.ownValue != 1000*r.recent.own || r.since.totalValue != 1000*r.recent.total {
			t.Errorf("%s: %+v", r.name, r.since)
		}
		if i > 0 && rows[i-1].recent.own < r.recent.own {
			t.Errorf("%s has more than %s above it", r.name, rows[i-1].name)
		}
	}
}

// Mistakes are found before anything is recorded, and where there is no terminal.
func TestTopErrors(t *testing.T) {
	commandtest.CanRecord(t)
	for _, tt := range []struct{ args, want string }{
		{"", "top of what? Give a PID, --name, --children, --cgroup, --container, or --system"},
		{"0", "top 0: no such process: want the number of one"},
		{"1 --every 1ms", "--every 1ms: want 50ms to 1h"},
		{strconv.Itoa(os.Getpid()), "this is no terminal: use 'sfwalk record'"},
	} {
		if out, _, err := commandtest.Run(append([]string{"top"}, strings.Fields(tt.args)...)...); err == nil || !strings.Contains(err.Error(), tt.want) || out != "" {
			t.Errorf("top %s: %v, %q; want %q", tt.args, err, out, tt.want)
		}
	}
}

// With --wall, top shows the functions of Python, of a thread that computes and of one that waits.
func TestTopOfPython(t *testing.T) {
	gdbtest.Later(t, "python3")
	script := filepath.Join(t.TempDir(), "work.py")
	if err := os.WriteFile(script, []byte(`import threading
def fetch():
    threading.Event().wait()
def compute(n):
    return n if n < 2 else compute(n - 1) + compute(n - 2)
threading.Thread(target=fetch, daemon=True).start()
print("ready", flush=True)
while True:
    compute(15)
`), 0o644); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "python3"), script)
	sfwalk := filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk")
	m := multiplex(t, fmt.Sprintf("%s top %d --wall -F 50 --every 100ms", sfwalk, p.PID))
	m.await(`(?s)^top of \d+ .* samples.*OWN▼.* compute`)
	m.keys("2")
	if screen := m.await(`(?s)TOTAL▼.* fetch`); strings.Contains(screen, "_PyEval_EvalFrame") {
		t.Errorf("the interpreter's own functions are shown:\n%s", screen)
	}
	m.keys("q")
	m.await(`exit code 0`)
}

// Names that a language has of its functions do nothing to the terminal.
func TestTopOfHostileNames(t *testing.T) {
	gdbtest.Later(t, "python3")
	script := filepath.Join(t.TempDir(), "odd.py")
	if err := os.WriteFile(script, []byte(`def compute():
    while True:
        pass
odd = "first\x1b[2J\x1b]0;owned\x07\r\nsecond\u202e"
code = compute.__code__
names = {"co_name": odd}
if hasattr(code, "co_qualname"):
    names["co_qualname"] = odd
compute.__code__ = code.replace(**names)
print("ready", flush=True)
compute()
`), 0o644); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, gdbtest.Tool(t, "python3"), script)
	sfwalk := filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk")
	m := multiplex(t, fmt.Sprintf("%s top %d --wall -F 50 --every 100ms", sfwalk, p.PID))
	m.await(`(?s)^top of \d+ .* samples.*OWN▼.* first\\x1b\[2J\\x1b\]0;owned\\x07\\r\\nsecond\\u202e`)
	m.keys("q")
	m.await(`exit code 0`)
}

// A decorator that fails costs its own frames: top shows the program's functions, and ends well.
func TestTopOfHostileDecorators(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program, err := os.ReadFile(gdbtest.Compile(t, gdbtest.Testdata(t, "..", "internal", "bench", "programs", "jit.c"), gdbtest.Tool(t, "cc"), "-O2", "-g"))
	exe := filepath.Join(t.TempDir(), "jit-renamed") // by which plugintest's toy knows it
	if err := errors.Join(err, os.WriteFile(exe, program, 0o700)); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, exe, "3", "3")
	sfwalk := filepath.Join(commandtest.Install(t, "sfwalk", "sfwalk-full"), "sfwalk")
	for mode, shown := range map[string]string{
		"toy": "toy.inner", "toy-fails": "toy.inner", "toy-crash": "pause|nanosleep|read|syscall", "toy-hang": "pause|nanosleep|read|syscall", "toy-nameless": "pause|nanosleep|read|syscall",
	} {
		m := multiplex(t, fmt.Sprintf("%s top %d --wall -F 50 --every 100ms --plugin %s", sfwalk, p.PID, plugintest.Path(t, mode)))
		m.await(`(?s)^top of \d+ .* samples.*OWN▼`)
		m.keys("2")
		m.await(`(?s)TOTAL▼.*(` + shown + `)`)
		m.keys("q")
		m.await(`exit code 0`)
	}
}
