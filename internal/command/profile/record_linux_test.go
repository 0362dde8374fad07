package profile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A command is recorded from its beginning, with the processes that it begins, and gives its exit
// code. Each stack is as in the program's source: one_fifth and its likes are called by deeper, as
// often as the program was told.
func TestRecordCommand(t *testing.T) {
	commandtest.CanRecord(t)
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	t.Chdir(t.TempDir())
	_, said, err := commandtest.Run("record", "-F", "499", "-o", "p.folded", "--", "sh", "-c", fmt.Sprintf("%s 1 12 1 >&2; %s 2 3 1 >&2; exit 5", exe, exe))
	if status := (exit.Status{}); !errors.As(err, &status) || status.Code != 5 {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile("p.folded")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^shares \[\d+\];.*;run;((?:deeper;)+)(half|three_tenths|one_fifth)(?:;.*)? (\d+)$`)
	samples := map[int]int{} // by the depth
	for l := range strings.Lines(string(text)) {
		if m := line.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
			n, _ := strconv.Atoi(m[3])
			samples[strings.Count(m[1], ";")] += n
		}
	}
	// The kernel takes fewer samples where other programs run, but about twice as many of the
	// second, which has two threads.
	if len(samples) != 2 || samples[13] < 20 || samples[4] < samples[13] {
		t.Errorf("samples by depth: %v\n%s%s", samples, said, text)
	}
}

// A profile for go tool pprof has the functions, their lines, the calls that are inlined, the
// mappings and the threads.
func TestRecordPprof(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread"), "2", "5")
	source, err := os.ReadFile("../../../testdata/progs/shares.c")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if _, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "-d", "3s", "-F", "499"); err != nil || !strings.Contains(said, "written to sfwalk.pb.gz") {
		t.Fatalf("%v\n%s", err, said)
	}
	data, err := os.ReadFile("sfwalk.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	x, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := x.CheckValid(); err != nil {
		t.Error(err)
	}
	called := regexp.MustCompile(`sink \+= half`).FindIndex(source)
	want := int64(bytes.Count(source[:called[0]], []byte("\n")) + 1)
	found, threads := 0, map[string]bool{}
	for _, s := range x.Sample {
		threads[fmt.Sprint(s.NumLabel["tid"])] = true
		for i, l := range s.Location {
			if i+1 < len(s.Location) && l.Line[0].Function.Name == "half" {
				if at := s.Location[i+1].Line[0]; at.Function.Name != "deeper" || at.Line != want {
					t.Errorf("half is called by %s at line %d, want deeper at %d", at.Function.Name, at.Line, want)
				}
				if m := l.Mapping; m == nil || m.BuildID == "" || !strings.HasSuffix(m.File, "/shares") && !strings.Contains(m.File, "shares") {
					t.Errorf("mapping %+v", m)
				}
				found++
			}
		}
	}
	if found == 0 || len(threads) != 2 || x.SampleType[1].Type != "cpu" || x.Period != int64(time.Second)/499 {
		t.Errorf("%d stacks with half, threads %v\n%v", found, threads, x)
	}
}

// Code that a compiler has made at run time has the names that it tells perf, where it is not shown
// as the functions of JavaScript that it is.
func TestRecordCompiled(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedAMD64(t)
	node := gdbtest.Tool(t, "node")
	t.Chdir(t.TempDir())
	// Without its symbols, node has the names of builtins in a table of V8's.
	if out, err := exec.Command(gdbtest.Tool(t, "strip"), "-o", "node", node).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const script = `function busy(until) { let x = 0; while (Date.now() < until) for (let i = 0; i < 1e5; i++) x = (x * 31 + i) | 0; return x; }
function outer(until) { return busy(until) + 1; }
console.log("ready");
const end = Date.now() + 60000;
(function round() { outer(Date.now() + 50); if (Date.now() < end) setImmediate(round); })();`
	p := gdbtest.StartRunning(t, "./node", "--perf-basic-prof", "--interpreted-frames-native-stack", "-e", script)
	t.Cleanup(func() { os.Remove(fmt.Sprintf("/tmp/perf-%d.map", p.PID)) })
	var text []byte
	named, entered, all := 0, 0, 0
	gdbtest.Await(t, "there are thirty samples", func() bool {
		if _, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "--all-frames", "-d", "500ms", "-o", "p.folded"); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		var err error
		if text, err = os.ReadFile("p.folded"); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			i := strings.LastIndexByte(l, ' ')
			n, _ := strconv.Atoi(strings.TrimSpace(l[i+1:]))
			all += n
			if regexp.MustCompile(`[~*^]?outer[ :;].*[~*^]busy[ :;]`).MatchString(l[:i] + " ") {
				named += n
			}
			if strings.Contains(l, ";Builtins_JSEntryTrampoline;") {
				entered += n
			}
		}
		return all >= 30
	})
	if entered < all/2 {
		t.Errorf("V8's builtin that calls JavaScript is in %d of %d samples\n%s", entered, all, text)
	}
	if named < all/2 {
		t.Errorf("%d of %d samples are in busy, which outer has called\n%s", named, all, text)
	}
}

// The process does not notice: nothing traces it, and it goes on when sfwalk is killed.
func TestRecordUndisturbed(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	r := exec.Command(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), "record", strconv.Itoa(p.PID), "-o", filepath.Join(t.TempDir(), "p.folded"))
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Process.Kill(); r.Wait() })
	gdbtest.Await(t, "sfwalk samples the process", func() bool {
		links, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.Process.Pid))
		for _, l := range links {
			if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", r.Process.Pid, l.Name())); to == "anon_inode:[perf_event]" {
				return true
			}
		}
		return false
	})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	if err != nil || !strings.Contains(string(status), "TracerPid:\t0\n") {
		t.Errorf("%v\n%s", err, status)
	}
	if err := r.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.Wait()
	before := gdbtest.Ran(t, p.PID)
	gdbtest.Await(t, "the process runs on", func() bool { return gdbtest.Ran(t, p.PID) > before+50*time.Millisecond })
}

// A process that waits all the time has no samples, and the last line says why.
func TestRecordWaiting(t *testing.T) {
	commandtest.CanRecord(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "2")
	t.Chdir(t.TempDir())
	_, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "-d", "300ms")
	if err != nil || !regexp.MustCompile(`^0 samples of 0 threads in [\d.]+ s: no thread took 10\.1ms on a processor: -F 999 finds more, --wall shows what threads wait for; written`).MatchString(said) {
		t.Errorf("%v\n%s", err, said)
	}
}

// Mistakes are found before anything is recorded.
func TestRecordErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", "record what? Give a PID, --name, --children, --cgroup, --container, --system, or -- and a command"},
		{"1 --system", "different things to record: give one"},
		{"1 -F 0", "--frequency 0: want 1 to 100000"},
		{"1 -d -1s", "--duration -1s: want more than 0"},
		{"1 -d 0", "--duration 0s: want more than 0"},
		{"1 --wall --event page-faults", "--wall counts no events"},
		{"1 --wall -F 2000", "want 1 to 1000 with --wall"},
		{"--wall --system", "--wall stops processes: say which"},
		{"2147483647 --wall -o p.svg", "no such process"},
		{"1 --stack 1M", "want 256 to"},
		{"1 --event nothing", "--event nothing: want cpu-clock, cycles"},
		{"1 --http 0.0.0.0:80", "want an address of this machine alone, such as localhost:80"},
		{"1 --http 0.0.0.0:0", "ssh -L 8080:localhost:8080"},
		{"1 --http localhost:99999", "want host:port, such as localhost:0"},
		{"1 --http 8080", "want host:port, such as localhost:0"},
		{"1 --base p.pb.gz", "--base is for --http"},
		{"1 --http localhost:0 --base /no/such/profile", "--base: open /no/such/profile: no such file"},
		{"1 --http localhost:0 --base /etc/passwd", "--base: /etc/passwd: want a profile of pprof"},
		{"1 -o profile", "--output profile: the name tells no format"},
		{"1 --format picture", "--format picture: want pprof (or pb.gz), folded (or raw"},
		{"0", "want the number of one"},
		{"2147483647 -o p.svg", "record process 2147483647: no such process"},
		{"1 -o /no/such/\x00/p.svg", "--output"},
		{"-o p.svg -- /no/such/command", "/no/such/command: no such file or directory"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			out, _, err := commandtest.Run(append([]string{"record"}, strings.Fields(tt.args)...)...)
			if err == nil || !strings.Contains(err.Error(), tt.want) || out != "" {
				t.Errorf("%v, %q; want %q", err, out, tt.want)
			}
			if left, _ := os.ReadDir("."); len(left) > 0 {
				t.Errorf("%s is left", left[0].Name())
			}
		})
	}
}

// Threads, and processes that have ended, are no processes: the kernel's errors do not say so.
func TestRecordNoProcess(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "2")
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	gdbtest.Await(t, "true is a zombie", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", zombie.Process.Pid))
		return strings.Contains(string(stat), ") Z ")
	})
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("%d threads, %v", len(tasks), err)
	}
	for pid, want := range map[string]string{
		tasks[len(tasks)-1].Name():       fmt.Sprintf("a thread of process %d: give that", p.PID),
		strconv.Itoa(zombie.Process.Pid): "a zombie: it has exited",
	} {
		for _, how := range []string{"", "--wall"} {
			t.Chdir(t.TempDir())
			if _, _, err := commandtest.Run(slices.Concat([]string{"record", pid, "-d", "1s"}, strings.Fields(how))...); err == nil || !strings.Contains(err.Error(), "record process "+pid+": "+want) {
				t.Errorf("record %s %s: %v; want %q", pid, how, err, want)
			}
		}
	}
}

// Another user's process is for root alone, whatever the machine allows.
func TestRecordAsNobody(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedRoot(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "2")
	program, err := os.Open(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	// The folder is root's alone.
	cmd := exec.Command("/proc/self/fd/3", "record", strconv.Itoa(p.PID), "-d", "1s", "-o", "-", "--format", "folded")
	cmd.Args[0] = "sfwalk"
	cmd.ExtraFiles, cmd.Dir, cmd.SysProcAttr = []*os.File{program}, "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "it is another user's, or has more rights than you: run as root") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A command that cannot be recorded does not run.
func TestRecordNothing(t *testing.T) {
	commandtest.CanRecord(t)
	t.Chdir(t.TempDir())
	_, said, err := commandtest.Run("record", "--event", "cycles", "-o", "p.svg", "--", "touch", "made")
	gdbtest.Await(t, "the command has ended, if it runs", func() bool {
		for _, file := range gdbtest.Glob(t, "/proc/[0-9]*/stat") {
			// "PID (touch) STATE PARENT …"; Z is the state of one that has ended.
			stat, _ := os.ReadFile(file)
			if m := regexp.MustCompile(`^\d+ \(touch\) (\S) (\d+) `).FindSubmatch(stat); m != nil && string(m[2]) == strconv.Itoa(os.Getpid()) && string(m[1]) != "Z" {
				return false
			}
		}
		return true
	})
	if _, missing := os.Stat("made"); (err == nil) != (missing == nil) {
		t.Errorf("%v\n%s; the command's file: %v", err, said, missing)
	}
}

// TestRecordPage runs the commands of docs/recording.md and of the help, for a moment each.
func TestRecordPage(t *testing.T) {
	commandtest.CanRecord(t)
	exe := gdbtest.Build(t, "shares.c", "-O2", "-pthread")
	p, other := gdbtest.StartRunning(t, exe, "1", "5"), gdbtest.StartRunning(t, exe, "1", "5")
	text, err := os.ReadFile("../../../docs/recording.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range regexp.MustCompile("(?m)^    (sfwalk record .*)$").FindAllSubmatch(text, -1) {
		lines = append(lines, string(m[1]))
	}
	comingFrom, err := os.ReadFile("../../../docs/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`(sfwalk record [^`]*)`").FindAllSubmatch(comingFrom, -1) {
		lines = append(lines, string(m[1]))
	}
	root := commandtest.New(nil)
	cmd, _, err := root.Find([]string{"record"})
	if err != nil {
		t.Fatal(err)
	}
	lines = append(lines, strings.Split(cmd.Example, "\n")...)
	t.Chdir(t.TempDir())
	seen := map[string]bool{}
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "|")
		line, _, _ = strings.Cut(line, "#")
		line = strings.NewReplacer("4242", strconv.Itoa(p.PID), "4243", strconv.Itoa(other.PID), "./server -port 8080", exe+" 1 5 0", "-d 10s", "-d 300ms").Replace(strings.TrimSpace(line))
		if !strings.Contains(line, " -d ") && !strings.Contains(line, " -- ") {
			line += " -d 300ms"
		}
		// TestRecordPages runs the former, TestRecordChosen the others.
		if seen[line] || slices.ContainsFunc([]string{"--http", "--name", "--cgroup", "--container"}, func(flag string) bool { return strings.Contains(line, flag) }) {
			continue
		}
		seen[line] = true
		args := strings.Fields(line)[1:]
		if out, said, err := commandtest.Run(args...); err != nil || out == "" && !strings.Contains(said, "written to") {
			t.Errorf("%s: %v\n%s", line, err, said)
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %d commands: %v", len(seen), seen)
	}
}

// A process has more threads than files may be open: then all of the machine is sampled, and the
// others' samples are left out.
func TestRecordManyThreads(t *testing.T) {
	commandtest.CanRecord(t)
	if os.Geteuid() != 0 {
		gdbtest.Cannot(t, "only root samples the whole machine")
	}
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "12", "7")
	gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	out := filepath.Join(t.TempDir(), "p.folded")
	cmd := exec.Command(gdbtest.Tool(t, "prlimit"), "--nofile=24", filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), "record", strconv.Itoa(p.PID), "-d", "2s", "-F", "499", "-o", out)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`(?m)^.*;run;(?:deeper;){6}(?:half|three_tenths|one_fifth).*$`)
	if found := other.Find(text); found != nil || !bytes.Contains(text, []byte(";run;deeper;deeper;deeper;deeper;deeper;deeper;deeper;deeper;")) {
		t.Errorf("a stack of another process: %q\n%s", found, text)
	}
}
