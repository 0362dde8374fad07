package stacks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// bank has a method in a namespace, which one thread of four is in.
const bank = `#include <thread>
#include <unistd.h>
#include <cstdio>
namespace ns {
struct Bank {
	int balance = 3;
	__attribute__((noinline)) void transfer(int amount) {
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
};
}
int main() {
	ns::Bank b;
	for (int i = 0; i < 3; i++)
		std::thread([] { for (;;) pause(); }).detach();
	b.transfer(7);
}
`

func startBank(t *testing.T) (pid string) {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "bank.cc"), filepath.Join(dir, "bank")
	if err := os.WriteFile(source, []byte(bank), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Tool(t, "g++"), "-g", "-O1", "-pthread", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("g++: %v\n%s", err, out)
	}
	return strconv.Itoa(gdbtest.Start(t, program).PID)
}

// --frame finds a function by the last components of its name, in the thread and at the level where
// gdb has it, and leaves out all other threads. Where no frame matches, nothing is printed, and
// that is said once. A malformed expression is found before the process is touched. A name that no
// frame has is said once.
func TestSelections(t *testing.T) {
	gdbtest.NeedAMD64(t)
	pid := startBank(t)
	text, err := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", pid, "-ex", "thread apply all bt").Output()
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^#(\d+) .* in ns::Bank::transfer \(this=.*, amount=.*7\) at .*/bank\.cc:(\d+)$`).FindAllStringSubmatch(string(text), -1)
	if len(m) != 1 || strings.Count(string(text), "(LWP ") < 4 {
		t.Fatalf("gdb:\n%s", text)
	}
	want := regexp.MustCompile(`^Thread ` + pid + ` "bank"\n(?:  waits .*\n)?#` + m[0][1] + ` +0x[0-9a-f]+ in ns::Bank::transfer \(.*\) at .*bank\.cc:` + m[0][2] + `\n$`)
	for _, name := range []string{"transfer", "Bank::transfer", "ns::Bank::transfer", "nosuch,transfer"} {
		out, _, err := commandtest.Run("attach", pid, "--frame", name)
		if err != nil || !want.MatchString(out) {
			t.Errorf("--frame %s: %v\n%s", name, err, out)
		}
	}
	out, _, err := commandtest.Run("attach", pid, "--frame", "transfer", "--merge")
	if err != nil || strings.Count(out, "hread") != 1 || !strings.Contains(out, "ns::Bank::transfer") {
		t.Errorf("--merge: %v\n%s", err, out)
	}
	out, _, err = commandtest.Run("attach", pid, "--frame", "transfer", "--json")
	var doc struct {
		Threads []struct {
			Frames []struct{ Function string }
		}
	}
	if wrong := json.Unmarshal([]byte(out), &doc); err != nil || wrong != nil || len(doc.Threads) != 4 || len(doc.Threads[0].Frames) != 1 {
		t.Errorf("--json: %v, %v\n%s", err, wrong, out)
	}
	for _, tt := range []struct{ line, want string }{
		{"--frame nosuch", "--frame nosuch: no stack has such a frame: name it by its number"},
		{"--frame nosuch --json", "--frame nosuch: no stack has such a frame"},
		{"--frame nosuch --merge", "--frame nosuch: no stack has such a frame"},
		{"--frame nosuch --tree", "--frame nosuch: no stack has such a frame"},
		{"--frame 99", "--frame 99: no stack has such a frame"},
		{"--frame trans", "--frame trans: no stack has such a frame: do you mean ns::Bank::transfer?"},
		{"--frame nosuch --name bank", "--frame nosuch: no stack has such a frame"},
		{"--print 1+", "--print 1+: an expression is missing at column 3"},
		{"--print balance) --frame 1", "--print balance): "},
		{"--tid 1", "thread 1: the process has no such thread"},
		{"--tid 1 --json", "thread 1: the process has no such thread"},
	} {
		out, _, err := commandtest.Run(append([]string{"attach", pid}, strings.Fields(tt.line)...)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || out != "" {
			t.Errorf("%s: %v, want %s\n%s", tt.line, err, tt.want, out)
		}
	}
	if _, _, err := commandtest.Run("attach", "999999999", "--print", "1+"); err == nil || strings.Contains(err.Error(), "process") {
		t.Errorf("a wrong expression is found late: %v", err)
	}
	// Each form of the languages is one for --print, whatever the process is.
	for _, text := range []string{"(char) 1", "*(int *) &b", "b.balance", "$1", "1 as u8", "(*main.T)(x).y", "x[0..2]", "a%b", "Box<int>(3)", "&ns::f", "{1, 2}[0]", `"text"`} {
		if _, _, err := commandtest.Run("attach", "999999999", "--print", text); err == nil || !strings.Contains(err.Error(), "no such process") {
			t.Errorf("--print %s: %v", text, err)
		}
	}
	out, stderr, err := commandtest.Run("attach", pid, "--print", "nosuch", "--frame", "0,1,transfer")
	if err == nil || !strings.Contains(err.Error(), `--print nosuch: No symbol "nosuch" in current context`) || strings.Contains(out+stderr, "nosuch") {
		t.Errorf("%v\n%s%s", err, out, stderr)
	}
	out, _, err = commandtest.Run("attach", pid, "--print", "amount", "--frame", "0,transfer")
	if err != nil || strings.Count(out, "amount") != 1 || !strings.Contains(out, "amount = 7\n") {
		t.Errorf("%v\n%s", err, out)
	}
	// Of several processes, those are named that have such a frame.
	other := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	out, _, err = commandtest.Run("attach", strconv.Itoa(other.PID), pid, "--frame", "transfer")
	if err != nil || !strings.HasPrefix(out, "Process "+pid+"\nThread "+pid+" ") || strings.Contains(out, strconv.Itoa(other.PID)) {
		t.Errorf("%v\n%s", err, out)
	}
}

// --all as another user: the processes that one may not see are counted, and nothing is said of
// each. As ps counts them.
func TestAllOfOthers(t *testing.T) {
	gdbtest.NeedRoot(t)
	gdbtest.NeedAMD64(t)
	const nobodys = 61_234 // no process has this user; some servers run as "nobody"
	program, err := os.Open(filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	other := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	cmd := exec.Command("/proc/self/fd/3", "attach", "--all", "--no-symbol-index", "--no-cache")
	cmd.Args[0] = "sfwalk"
	cmd.ExtraFiles, cmd.Dir, cmd.SysProcAttr = []*os.File{program}, "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodys, Gid: nobodys}}
	out, _ := cmd.CombinedOutput()
	m := regexp.MustCompile(`(?m)^sfwalk: warning: (\d+) processes of other users were left out: run as root$`).FindAllStringSubmatch(string(out), -1)
	if len(m) != 1 || strings.Contains(string(out), strconv.Itoa(other.PID)) || strings.Contains(string(out), "operation not permitted") {
		t.Fatalf("%s", out)
	}
	if n, _ := strconv.Atoi(m[0][1]); n < 2 {
		t.Errorf("%d processes are left out", n)
	}
}
