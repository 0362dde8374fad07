package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/command/targets"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/target/live"
)

func TestText(t *testing.T) {
	p := commandtest.StartDemo(t)
	out, _, err := command("attach", strconv.Itoa(p.PID))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf(`(?m)^Thread %d "demo"$`, p.PID),
		`(?m)^#0  0x[0-9a-f]{16} in .+`,
		`(?m)^#\d+ +<signal handler called: SIGUSR1>$`,
		`(?m)^#\d+ +0x[0-9a-f]{16} in walk_tree \(…\) at .*demo\.c:\d+$`,
		`(?m)^#\d+ +serve \(…\) at .*demo\.c:\d+$`, // an inlined call: it has no address of its own
		`(?m)^#\d+ +0x[0-9a-f]{16} in _start\+0x[0-9a-f]+ \(.*/demo\)$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("no line matches %s in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("colour without a terminal")
	}
	if out, _, _ := command("attach", strconv.Itoa(p.PID), "--color", "always"); !strings.Contains(out, "\x1b[") {
		t.Error("no colour with --color always")
	}
}

// Level numbers of any number of digits stand before the address, as in gdb.
func TestLevels(t *testing.T) {
	p := commandtest.StartTarget(t, "recurse.c", gdbtest.Plain, []string{"1100"})
	begin := regexp.MustCompile(`(?m)^#\d+ +0x[0-9a-f]{16} in `)
	out, _, err := command("attach", strconv.Itoa(p.PID))
	if err != nil {
		t.Fatal(err)
	}
	gdb, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(p.PID), "-ex", "bt").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := begin.FindAllString(out, -1), begin.FindAllString(string(gdb), -1)
	if len(theirs) < 1100 || len(ours) < len(theirs) { // gdb ends at main
		t.Fatalf("%d frames, gdb has %d", len(ours), len(theirs))
	}
	for _, want := range theirs { // gdb has no address in a frame 0 at which a line begins
		if !slices.Contains(ours, want) {
			t.Fatalf("gdb has %q, which is missing in\n%s", want, out)
		}
	}
}

// TestJSON compares the document with its description.
func TestJSON(t *testing.T) {
	p := commandtest.StartDemo(t)
	out, _, err := command("attach", strconv.Itoa(p.PID), "--json", "--registers", "--explain")
	if err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk attach", out)

	var doc struct {
		PID     int
		Exe     string
		Arch    string
		PauseUS int64 `json:"pause_us"`
		Threads []struct {
			TID    int
			Stop   string
			Frames []struct {
				Level                       int
				Type, PC, Function, Sniffer string
				CFA                         *string
				BuildID                     string `json:"build_id"`
				Registers                   []struct{ Name, Value string }
				Explain                     *struct {
					Row      string
					Declined []struct{ Sniffer, Reason string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.PID != p.PID || doc.Arch != "amd64" || filepath.Base(doc.Exe) != "demo" || doc.PauseUS <= 0 || len(doc.Threads) != 6 || doc.Threads[0].TID != p.PID {
		t.Errorf("document %+v", doc)
	}
	types, sniffers := map[string]bool{}, map[string]bool{}
	for _, th := range doc.Threads {
		if th.Stop != "outermost" {
			t.Errorf("thread %d stops by %q", th.TID, th.Stop)
		}
		for i, f := range th.Frames {
			types[f.Type], sniffers[f.Sniffer] = true, true
			if f.Level != i || !strings.HasPrefix(f.PC, "0x") || f.CFA == nil || f.BuildID == "" {
				t.Errorf("frame %d is %+v", i, f)
			}
			if physical := f.Type != "inline" && f.Type != "tailcall"; physical != (f.Registers != nil) || physical != (f.Explain != nil) {
				t.Errorf("frame %d (%s): registers %v, explanation %v", i, f.Type, f.Registers, f.Explain)
			}
		}
	}
	for _, want := range []string{"normal", "inline", "sigtramp"} {
		if !types[want] {
			t.Errorf("no frame is of type %s", want)
		}
	}
	for _, want := range []string{"sigtramp", "sframe", "dwarf"} {
		if !sniffers[want] {
			t.Errorf("no frame was unwound by %s", want)
		}
	}
}

// TestRegistersGDB compares the registers that callers can rely on.
func TestRegistersGDB(t *testing.T) {
	for _, src := range []string{"chain.c", "sighandler.c", "realign.c"} {
		args := map[string][]string{"sighandler.c": {"alt", "middle"}}[src]
		p := gdbtest.Start(t, gdbtest.Build(t, src, append([]string{"-mavx2"}, gdbtest.Plain...)...), args...)
		got := commandtest.Take(t, p.PID, &report.Flags{Registers: true}).Threads[0]
		known, compared := 0, 0
		for i, g := range gdbtest.Backtrace(t, p.PID, gdbtest.WithRegisters())[0].Frames {
			if !g.Physical() {
				continue
			}
			for j, r := range amd64.Arch.Regs {
				want, ok := g.Registers[int(r.Num)]
				value := got.Frames[i].Registers[j].Value
				if !ok || !strings.HasPrefix(value, "0x") {
					continue
				}
				if known++; value != fmt.Sprintf("%#x", want) {
					t.Errorf("%s frame %d: %s is %s, gdb has %#x", src, i, r.Name, value, want)
				}
				if amd64.Arch.CalleeSaved.Has(r.Num) {
					compared++
				}
			}
		}
		if compared < 40 {
			t.Errorf("%s: only %d registers compared", src, compared)
		}
		t.Logf("%s: %d registers, %d of them callee-saved", src, known, compared)
	}
}

func TestErrors(t *testing.T) {
	p := commandtest.StartDemo(t)
	pid := strconv.Itoa(p.PID)
	for _, tt := range []struct {
		args  []string
		usage bool
		want  string
	}{
		{[]string{}, true, "which command"},
		{[]string{"attach"}, true, "attach to which process?"},
		{[]string{"attac", "1"}, true, `there is no command "attac": do you mean attach?`},
		{[]string{"sframe", "dmp"}, true, `sframe: there is no command "dmp": do you mean dump?`},
		{[]string{"attach", "--josn", pid}, true, "do you mean --json?"},
		{[]string{"open", "a", "b"}, true, `open: "b" is one argument too many`},
		{[]string{"core", "a", "b"}, true, `core: "b" is one argument too many: --exe names the program`},
		{[]string{"call", pid}, true, "call: EXPRESSION is missing"},
		{[]string{"remote"}, true, "remote: HOST:PORT or unix:PATH is missing"},
		{[]string{"sframe", "gen", "a", "b"}, true, `"b" is one argument too many`},
		{[]string{"version", "x"}, true, "version: it takes no arguments"},
		{[]string{"attach", "x"}, true, "attach x: no such process: want the number of one"},
		{[]string{"attach", "0"}, true, "attach 0: no such process: want"},
		{[]string{"attach", "--", "-" + pid}, true, "attach -" + pid + ": no such process: want"},
		{[]string{"attach", "2147483648"}, false, "attach 2147483648: no such process"},
		{[]string{"attach", "1099511627776"}, false, "attach 1099511627776: no such process"},
		{[]string{"attach", strconv.Itoa(p.PID + 1<<32)}, false, "no such process"},
		{[]string{"attach", strings.Repeat("9", 30)}, false, "no such process"},
		{[]string{"attach", pid, "--nonsense"}, true, "unknown flag"},
		{[]string{"attach", pid, "--color", "blue"}, true, "auto, always or never"},
		{[]string{"attach", pid, "--sniffers", "sframe,nobody"}, true, `unknown sniffer "nobody": there are sigtramp, sframe`},
		{[]string{"attach", pid, "--max-frames", "-1"}, true, "want 0 or more"},
		{[]string{"attach", pid, "--tid", "1"}, false, "no such thread"},
		{[]string{"attach", "2147483647"}, false, "no such process"},
		{[]string{"attach", strconv.Itoa(os.Getpid())}, false, "attach " + strconv.Itoa(os.Getpid())},
	} {
		_, _, err := command(tt.args...)
		var usage exit.Usage
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, &usage) != tt.usage {
			t.Errorf("sfwalk %s: error %v (usage %v), want %q (usage %v)", strings.Join(tt.args, " "), err, errors.As(err, &usage), tt.want, tt.usage)
		}
	}
}

func TestLimits(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "3")
	out, _, err := command("attach", strconv.Itoa(p.PID), "--max-frames", "2", "--tid", strconv.Itoa(p.PID))
	if err != nil || strings.Count(out, "Thread ") != 1 || !strings.Contains(out, "more frames follow") {
		t.Errorf("%v\n%s", err, out)
	}
	// One sniffer alone cannot unwind libc: exit code 3, and the last line says why.
	out, _, err = command("attach", strconv.Itoa(p.PID), "--sniffers", "sframe")
	if !errors.Is(err, exit.ErrEarly) || !strings.Contains(out, "stop: unavailable (no sniffer knows how to unwind it)") {
		t.Errorf("%v\n%s", err, out)
	}
}

// --consistent stops all threads at one moment and says so. With it and without, the stacks are
// gdb's.
func TestConsistent(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "20")
	for _, consistent := range []bool{false, true} {
		s, err := targets.Process(context.Background(), p.PID, live.Options{Consistent: consistent})
		if err != nil {
			t.Fatal(err)
		}
		doc, _, err := report.Collect(s, &report.Flags{})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if doc.Consistent != consistent {
			t.Errorf("consistent is %v, want %v", doc.Consistent, consistent)
		}
		commandtest.CompareAll(t, doc, gdbtest.Backtrace(t, p.PID))
	}
}

// TestNoLines: without line tables, the frames are the physical ones that gdb has, and the only
// names are their functions'.
func TestNoLines(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "inline.c", gdbtest.Plain...))
	got := commandtest.Take(t, p.PID, &report.Flags{NoLines: true})
	for _, th := range gdbtest.Backtrace(t, p.PID) {
		var want []string
		for _, f := range th.Frames {
			if f.Physical() {
				want = append(want, f.Function)
			}
		}
		for _, g := range got.Threads {
			if g.TID != th.TID {
				continue
			}
			var names []string
			for _, f := range g.Frames {
				names = append(names, f.Function)
				if f.File != "" || f.Line != 0 || f.Type == "inline" || f.Type == "tailcall" {
					t.Errorf("frame %+v", f)
				}
			}
			// gdb names the innermost inlined function; the symbol is main's.
			if len(names) != len(want) || len(names) < 3 {
				t.Errorf("frames %q, gdb has %q", names, want)
			}
		}
	}
}

// TestDocumentedCommands runs every sfwalk command in the pages and the help texts. 4242 stands for
// a process, 4243 for one of its threads. Whatever plug-in a page names, one for tests runs.
func TestDocumentedCommands(t *testing.T) {
	p := commandtest.StartDemo(t)
	var lines []string
	pages := gdbtest.Glob(t, filepath.Join("..", "..", "docs", "*.md"))
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:    |\t)\$? ?(sfwalk [a-z].*)$`).FindAllSubmatch(text, -1) {
			lines = append(lines, string(m[1]))
		}
		for _, m := range regexp.MustCompile("`(sfwalk [a-z][^`]*)`").FindAllSubmatch(text, -1) {
			args := strings.Fields(string(m[1]))
			if cmd, rest, _ := commandtest.New(nil).Find(args[1:]); len(rest) == 0 && cmd.ValidateArgs(nil) != nil {
				continue // the text names a command that needs arguments, and runs none
			}
			lines = append(lines, string(m[1]))
		}
	}
	var help func(cmd *cobra.Command)
	help = func(cmd *cobra.Command) {
		lines = append(lines, strings.Split(cmd.Example, "\n")...)
		for _, sub := range cmd.Commands() {
			help(sub)
		}
	}
	help(commandtest.New(nil))
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.PID))
	if err != nil || len(tasks) < 2 {
		t.Fatalf("threads of the demo: %v, %v", tasks, err)
	}
	// Commands read the repository's testdata, and write elsewhere.
	testdata, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // which sfwalk cache clear empties
	called := commandtest.CallTarget(t)
	crashed := gdbtest.Start(t, gdbtest.Build(t, "threads.c", gdbtest.Plain...), "2")
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Symlink(testdata, "testdata"), os.Mkdir("sections", 0o777), os.Mkdir("symbols", 0o777), os.Mkdir("debug", 0o777), plugintest.Copy("sniffer-jit")); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(p.PID)
	commandtest.GCore(t, p.PID, "core."+pid)
	if out, err := exec.Command(gdbtest.Tool(t, "zstd"), "-q", "core."+pid).CombinedOutput(); err != nil {
		t.Fatalf("zstd: %v\n%s", err, out)
	}
	exe, err := os.Readlink("/proc/" + pid + "/exe")
	if err != nil {
		t.Fatal(err)
	}
	if _, errOut, err := command("attach", pid, "--save", "snapshot."+pid); err != nil {
		t.Fatalf("%v\n%s", err, errOut)
	}
	if err := os.Rename(commandtest.LLDBDump(t, crashed.PID), "crash.dmp"); err != nil {
		t.Fatal(err)
	}
	if _, errOut, err := command("symbols", "dump", exe, "-o", "server.sym"); err != nil {
		t.Fatalf("%v\n%s", err, errOut)
	}
	names := strings.NewReplacer("--print 'req->url' --frame handle_request", "--print $pc --frame 0", "--print 'strlen(req->url)' --frame handle_request", "--print $pc --frame 0", " DUMP", " crash.dmp", "./reports", ".", "logcat.txt", "crash.dmp", "/run/user/1000/", "", "~/build/debug", "debug", "4242 4243", pid+" "+strconv.Itoa(crashed.PID), "127.0.0.1:2345", "127.0.0.1:0", "--save FILE", "--save snapshot."+pid, "--snapshot FILE", "--snapshot snapshot."+pid, "open FILE", "open snapshot."+pid, "/var/lib/sframe", "sections", "./server", exe, "/srv/arm64-root", "/", "/srv/web", "/", "core.4242", "core."+pid, " CORE", " core."+pid, "snapshot.4242", "snapshot."+pid, "FILE", "testdata/bin/mix-v3", "4242", pid, "PID", pid, "4243", tasks[1].Name())
	text, err := os.ReadFile(filepath.Join(testdata, "../docs/calling.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := names.Replace(string(text)) // TestCallingPage runs its commands
	values, err := os.ReadFile(filepath.Join(testdata, "../docs/values.md"))
	if err != nil {
		t.Fatal(err)
	}
	prints := names.Replace(string(values)) // TestPrintPage runs its expressions
	plugin := regexp.MustCompile(`(--plugin|plugin check|plugin run) [^ -][^ ]*`)
	ran := 0
	seen := map[string]bool{}
	for _, line := range lines {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "|")
		line, _, _ = strings.Cut(line, "  ") // a remark
		line = names.Replace(plugin.ReplaceAllString(line, "$1 ./sniffer-jit"))
		args := strings.Fields(line)
		line = strings.Join(args, " ")
		if line == "" || seen[line] || strings.HasPrefix(line, "sfwalk call ") && strings.Contains(page, line) {
			continue
		}
		seen[line] = true
		if strings.Contains(line, " --print ") && !strings.Contains(line, "$pc") && strings.Contains(prints, line) {
			continue
		}
		if args[0] == "perf" {
			continue // its output goes to sfwalk: TestPerfPage runs such commands
		}
		if args[0] != "sfwalk" {
			t.Errorf("not an sfwalk command: %q", line)
			continue
		}
		if group, rest, _ := commandtest.New(nil).Find(args[1:]); len(rest) == 0 && group.HasSubCommands() {
			continue // the text names a group of commands, and runs none
		}
		if slices.Contains([]string{"record", "top", "perf"}, args[1]) {
			continue // it would take too long, or wants a terminal: TestRecordPage, TestTopExamples and TestPerfPage run such commands
		}
		if strings.HasPrefix(line, "sfwalk dlv debug") || strings.HasPrefix(line, "sfwalk dlv test") {
			continue // it wants a package: TestDlvDebug runs such commands
		}
		if strings.HasPrefix(line, "sfwalk dlv --accept-multiclient exec --continue ") {
			continue // it wants files, and a signal to end it: TestDlvContinue runs such a command
		}
		if slices.ContainsFunc([]string{"core --list", "core --last", "core --match"}, func(x string) bool { return strings.Contains(line, x) }) {
			continue // it wants a core that systemd-coredump has kept: TestStoredPage runs such commands
		}
		if slices.ContainsFunc([]string{"--goroutines", "--tasks", "--name nginx", "--cgroup", "--container", "--all"}, func(x string) bool { return strings.Contains(line, x) }) {
			continue // it wants a process that is not here: TestGoroutines, TestGoroutinesSaved, TestAttachTasks, TestProcesses, TestCgroups and TestContainers run such commands
		}
		if args[1] == "call" {
			args = commandtest.CallExample(line, pid, called)
		}
		if args[1] == "remote" && len(args) > 2 {
			args = strings.Fields(strings.ReplaceAll(commandtest.RemoteExample(t, line, p.PID), "'", ""))
		}
		out, errOut, err := command(args[1:]...)
		if status := (exit.Status{}); errors.As(err, &status) && status.Err == nil {
			err = nil // the status says that verify has found something
		}
		if i := slices.Index(args, "-o"); i > 0 && err == nil {
			var info os.FileInfo
			if info, err = os.Stat(args[i+1]); err == nil && info.Size() > 0 {
				out += "written"
			}
		}
		if err != nil || out+errOut == "" && args[1] != "call" {
			t.Errorf("%s: %v", line, err)
		}
		ran++
	}
	if ran < 10 {
		t.Errorf("only %d commands found", ran)
	}
	t.Logf("%d commands", ran)
}
