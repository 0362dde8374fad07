package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// wordy is a program whose debug information says that its functions come from files of others. An
// argument has it spin.
const wordy = `#include <stdio.h>
#include <unistd.h>
static volatile unsigned go, turns;
static inline __attribute__((always_inline)) void within(void) { do turns++; while (go); }
#line 1 "DIR/secret"
void secret(int spin) { if (spin) { go = 1; within(); } else pause(); }
#line 1 "DIR/closed/listing"
void closed(int spin) { secret(spin); go = 0; }
#line 1 "DIR/grouped"
void grouped(int spin) { closed(spin); go = 0; }
#line 1 "DIR/everybodys"
int main(int argc, char **argv) { puts("ready"); fflush(stdout); grouped(argc > 1); return 0; }
`

// othersUser is the user and the group of the process, and another group of its.
const othersUser, othersGroup = 77, 78

// wordyFolder makes the files, and returns their folder, in which everybody may search.
func wordyFolder(t *testing.T) string {
	gdbtest.NeedRoot(t)
	dir, err := os.MkdirTemp("/tmp", "word") // t.TempDir is below a folder of root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "closed"), 0o700))
	for name, mode := range map[string]os.FileMode{"secret": 0o600, "closed/listing": 0o644, "grouped": 0o640, "everybodys": 0o644} {
		path := filepath.Join(dir, name)
		err = errors.Join(err, os.WriteFile(path, []byte("this is "+name+"\nand more of it\n"), 0o600), os.Chmod(path, mode))
	}
	if err = errors.Join(err, os.Chown(filepath.Join(dir, "grouped"), 0, othersGroup)); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "wordy.c")
	if err := os.WriteFile(source, []byte(strings.ReplaceAll(wordy, "DIR", dir)), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// startAsOther starts a program as another user.
func startAsOther(t *testing.T, args ...string) *gdbtest.Process {
	t.Helper()
	as := []string{"--reuid", strconv.Itoa(othersUser), "--regid", strconv.Itoa(othersUser), "--groups", strconv.Itoa(othersGroup)}
	return gdbtest.StartRunning(t, gdbtest.Tool(t, "setpriv"), append(as, args...)...)
}

// read says which of the files a text shows lines of.
func shownOf(text string) (list []string) {
	for _, name := range []string{"secret", "closed/listing", "grouped", "everybodys"} {
		if strings.Contains(text, "this is "+name) {
			list = append(list, name)
		}
	}
	return list
}

// Source lines are of files that the process's user may read; all, if the user of sfwalk says so,
// or names the folder, or the process is sfwalk's own user's. What the owner of a file may read
// counts for what is read by the words of that file.
func TestSourceOfOther(t *testing.T) {
	dir := wordyFolder(t)
	shell(t, dir, "gcc -g -O1 -o wordy wordy.c")
	program := filepath.Join(dir, "wordy")
	p := startAsOther(t, program)
	own := gdbtest.Start(t, program)
	p.Rest(t)
	snapshot, dump := filepath.Join(dir, "snapshot"), filepath.Join(dir, "a.dmp")
	for _, args := range [][]string{{"--save", snapshot}, {"--save", dump, "--format", "minidump"}} {
		if _, said, err := command(append([]string{"attach", strconv.Itoa(p.PID)}, args...)...); err != nil {
			t.Fatal(err, said)
		}
	}
	pid := strconv.Itoa(p.PID)
	const some, all = "[grouped everybodys]", "[secret closed/listing grouped everybodys]"
	for _, tt := range []struct {
		owner int // of the snapshot and the minidump
		args  []string
		want  string
	}{
		{0, []string{"attach", pid}, some},
		{0, []string{"attach", pid, "--trust-paths"}, all},
		{0, []string{"attach", pid, "--source-dir", filepath.Join(dir, "closed")}, "[closed/listing grouped everybodys]"},
		{0, []string{"attach", strconv.Itoa(own.PID)}, all},
		{0, []string{"open", snapshot}, all},
		{0, []string{"core", snapshot}, all},
		{0, []string{"minidump", dump}, all},
		{othersUser, []string{"open", snapshot}, "[everybodys]"},
		{othersUser, []string{"core", snapshot}, "[everybodys]"},
		{othersUser, []string{"core", snapshot, "--trust-paths"}, all},
		{othersUser, []string{"minidump", dump}, "[everybodys]"},
		{othersUser, []string{"minidump", dump, "--trust-paths"}, all},
	} {
		if err := errors.Join(os.Chown(snapshot, tt.owner, 0), os.Chown(dump, tt.owner, 0)); err != nil {
			t.Fatal(err)
		}
		out, said, err := command(append(tt.args, "--source=0", "--no-debuginfod")...)
		if got := fmt.Sprint(shownOf(out)); got != tt.want || !strings.Contains(out, "in secret (") {
			t.Errorf("%v, files of user %d: lines of %s, want %s: %v\n%s\n%s", tt.args, tt.owner, got, tt.want, err, out, said)
		}
		if refused := strings.Contains(said, dir+"/secret is not read: ") && strings.Contains(said, "--trust-paths"); refused != (tt.want != all) {
			t.Errorf("%v, files of user %d: it is said %q", tt.args, tt.owner, said)
		}
	}
	// A link leads out of the folder that the user has named.
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "links"), 0o755), os.Symlink("../secret", filepath.Join(dir, "links", "secret"))); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := command("attach", pid, "--source", "--source-dir", filepath.Join(dir, "links")); strings.Contains(out, "this is secret") {
		t.Errorf("a link leads out of --source-dir:\n%s", out)
	}
}

// Debug files are files that the process's user may read, wherever the program says that they are.
func TestDebugFilesOfOther(t *testing.T) {
	for _, tt := range []struct{ name, build, hide string }{
		{"split", "gcc -g -gsplit-dwarf -O1 -o wordy wordy.c", "*.dwo"},
		{"package", "gcc -gdwarf-4 -gsplit-dwarf -O1 -o wordy wordy.c; dwp -e wordy -o wordy.dwp; rm *.dwo", "wordy.dwp"},
		{"linked", "gcc -g -O1 -o wordy wordy.c; objcopy --only-keep-debug wordy wordy.debug; strip -g wordy; objcopy --add-gnu-debuglink=wordy.debug wordy", "wordy.debug"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := wordyFolder(t)
			if tt.name == "package" {
				gdbtest.Tool(t, "dwp")
			}
			shell(t, dir, tt.build+"; chmod 600 "+tt.hide)
			p := startAsOther(t, filepath.Join(dir, "wordy"), "spin")
			p.Runs(t, 10*time.Millisecond)
			for _, flags := range [][]string{nil, {"--trust-paths"}} {
				out, said, err := command(append([]string{"attach", strconv.Itoa(p.PID), "--no-debuginfod", "--no-cache"}, flags...)...)
				if strings.Contains(out, "within (") != (flags != nil) || !strings.Contains(out, "grouped") {
					t.Errorf("%v: %v\n%s\n%s", flags, err, out, said)
				}
				if strings.Contains(said, "--trust-paths") != (flags == nil) {
					t.Errorf("%v: it is said %q", flags, said)
				}
			}
			shell(t, dir, "chmod 644 "+tt.hide)
			if out, said, err := command("attach", strconv.Itoa(p.PID), "--no-debuginfod", "--no-cache"); !strings.Contains(out, "within (") || said != "" {
				t.Errorf("what everybody may read: %v\n%s\n%s", err, out, said)
			}
		})
	}
}

// A recording has the names that the process's user may read.
func TestRecordOther(t *testing.T) {
	commandtest.CanRecord(t)
	dir := wordyFolder(t)
	shell(t, dir, "gcc -g -gsplit-dwarf -O1 -o wordy wordy.c; chmod 600 *.dwo")
	p := startAsOther(t, filepath.Join(dir, "wordy"), "spin")
	for _, flags := range [][]string{nil, {"--trust-paths"}} {
		args := append([]string{"record", strconv.Itoa(p.PID), "-d", "1s", "-o", "-", "--format", "folded", "--no-cache"}, flags...)
		if out, said, err := command(args...); !strings.Contains(out, "secret") || strings.Contains(out, "within") != (flags != nil) {
			t.Errorf("%v: %v\n%s\n%s", flags, err, out, said)
		}
	}
}
