package stacks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// storedCores makes a folder as systemd-coredump leaves it, of a bundled core.
func storedCores(t *testing.T) string {
	t.Helper()
	core, err := os.ReadFile("../../../target/core/testdata/amd64-gdb.core")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct {
		pid, when, comm, exe string
		size                 int64
	}{
		{"1780", "1795944143000000", `we\x2eird\x20na\x5c\x5cme`, `/tmp/docsx/we.ird na\me`, 81758},
		{"1793", "1795944145000000", "plain", "/tmp/docsx/plain", 81660},
		{"1806", "1795944146000000", "plain", "/tmp/docsx/plain", 81749},
	} {
		path := filepath.Join(dir, "core."+c.comm+".0.64020dc3a9fe4bbd86e2f0b0c6ef52aa."+c.pid+"."+c.when)
		if err := errors.Join(os.WriteFile(path, core, 0o640), os.Truncate(path, c.size)); err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"pid": c.pid, "uid": "0", "gid": "0", "signal": "11", "exe": c.exe} {
			if err := unix.Setxattr(path, "user.coredump."+name, []byte(value), 0); errors.Is(err, unix.ENOTSUP) {
				gdbtest.Cannot(t, "the file system of "+dir+" keeps no attributes")
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestStoredList compares with what coredumpctl 252 list has printed of such cores.
func TestStoredList(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	dir := storedCores(t)
	const want = `TIME                         PID UID GID SIG     COREFILE EXE                      SIZE
Sun 2026-11-29 09:22:23 UTC 1780   0   0 SIGSEGV present  /tmp/docsx/we.ird na\me 79.8K
Sun 2026-11-29 09:22:25 UTC 1793   0   0 SIGSEGV present  /tmp/docsx/plain        79.7K
Sun 2026-11-29 09:22:26 UTC 1806   0   0 SIGSEGV present  /tmp/docsx/plain        79.8K
`
	got, said, err := commandtest.Run("core", "--coredump-dir", dir, "--list")
	if err != nil || got != want || said != "" {
		t.Errorf("%v %s\n%s\nwant\n%s", err, said, got, want)
	}
	for _, tt := range []struct {
		args string
		rows int
	}{
		{"--list plain", 2}, {"--list --match plain", 2}, {"--list 1780", 1}, {"--list plain --match 1806", 1}, {"--list /tmp/docsx/plain", 2},
		{"--list --since 2026-11-29T09:22:25Z", 2}, {"--list --since @1795944146", 1}, {"--list --until 2026-11-29T09:22:25Z", 2},
		{"--list --since 2026-11-28 --until 2026-11-30", 3}, {"--list --since 2026-11-28 --until 2026-11-29", -1}, {"--list nosuch", -1},
	} {
		got, said, err := commandtest.Run(append([]string{"core", "--coredump-dir", dir}, strings.Fields(tt.args)...)...)
		if rows := strings.Count(got, "\n") - 1; rows != tt.rows || (err != nil) != (tt.rows < 0) {
			t.Errorf("%s: %d rows, want %d: %v\n%s%s", tt.args, rows, tt.rows, err, got, said)
		}
	}
	got, _, err = commandtest.Run("core", "--coredump-dir", dir, "--list", "--json", "1806")
	var doc struct {
		Cores []struct {
			Time                int64
			PID, UID, GID, Sig  int
			CoreFile, Exe, Core string
			Size                int
		}
	}
	if err := errors.Join(err, json.Unmarshal([]byte(got), &doc)); err != nil {
		t.Fatal(err)
	}
	commandtest.InPage(t, "sfwalk core --list`", got)
	// coredumpctl list --json=short: "time" is of the journal's entry, a moment later.
	if c := doc.Cores[0]; len(doc.Cores) != 1 || c.Time != 1795944146000000 || c.PID != 1806 || c.UID != 0 || c.GID != 0 || c.Sig != 11 || c.CoreFile != "present" ||
		c.Exe != "/tmp/docsx/plain" || c.Size != 81749 || filepath.Dir(c.Core) != dir {
		t.Errorf("%s", got)
	}
}

// TestStoredCore opens what the flags choose.
func TestStoredCore(t *testing.T) {
	dir := storedCores(t)
	for _, tt := range []struct{ args, pid string }{ // "" is an error
		{"--last", "1806"}, {"--last plain", "1806"}, {"--last --match plain", "1806"}, {"--match 1793", "1793"}, {"--last 1780", "1780"},
		{"--last --until 2026-11-29T09:22:25Z", "1793"},
		{"--match plain --match COREDUMP_PID=1793", "1793"},
		{"--match plain", ""}, {"--match nosuch", ""}, {"--match COREDUMP_UNIT=x", ""}, {"--last --since soon", ""}, {"--last --list", ""}, {"--match 1793 core", ""}, {"--since today", ""},
	} {
		got, said, err := commandtest.Run(append([]string{"core", "--coredump-dir", dir}, strings.Fields(tt.args)...)...)
		if errors.Is(err, exit.ErrEarly) { // the bundled core has little of its stack
			err = nil
		}
		if (err == nil) != (tt.pid != "") || tt.pid != "" && (!strings.Contains(said, "(PID "+tt.pid+")") || !strings.Contains(said, "."+tt.pid+".") || !strings.Contains(got, "#0 ")) {
			t.Errorf("%s: %v\n%s%s", tt.args, err, got, said)
		}
	}
	// Several are listed.
	_, said, err := commandtest.Run("core", "--coredump-dir", dir, "--match", "plain")
	if err == nil || !strings.Contains(err.Error(), "2 cores match") || len(regexp.MustCompile(`(?m) (1793|1806) .* /tmp/docsx/plain `).FindAllString(said, -1)) != 2 {
		t.Errorf("%v\n%s", err, said)
	}
	// A folder that is not there, one without cores, a core that is another's.
	for folder, want := range map[string]string{filepath.Join(dir, "none"): "no such folder", t.TempDir(): "there are no cores"} {
		if _, _, err := commandtest.Run("core", "--coredump-dir", folder, "--last"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if os.Geteuid() != 0 {
		gdbtest.Cannot(t, "only root makes files of others")
	}
	program := filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk")
	for path := dir; path != "/tmp" && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path := filepath.Dir(program); path != "/tmp" && path != "/"; path = filepath.Dir(path) {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const other = 65534
	asOther := func(args, want string) {
		t.Helper()
		cmd := exec.Command(program, append([]string{"core", "--coredump-dir", dir}, strings.Fields(args)...)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
		if out, err := cmd.CombinedOutput(); !strings.Contains(string(out), want) {
			t.Errorf("%s of another user: %v\n%s", args, err, out)
		}
	}
	asOther("--last", "only root and user 0 may read it")
	asOther("--list", "inaccessible plain")
	if err := os.Chown(gdbtest.Glob(t, dir+"/*.1793.*")[0], other, other); err != nil {
		t.Fatal(err)
	}
	asOther("--last", "1 newer core that you may not read is left out: run as root\nsfwalk: the core of /tmp/docsx/plain (PID 1793)")
	asOther("--match plain", "2 cores match")
	asOther("--match 1806", "only root and user 0 may read it")
}

// TestCoreHere has no argument beside files that the kernel leaves in a process's folder.
func TestCoreHere(t *testing.T) {
	core, err := os.ReadFile("../../../target/core/testdata/amd64-gdb.core")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.MkdirAll("core.d", 0o755), os.WriteFile("core.txt", []byte("seeds"), 0o644), os.WriteFile("core.1 x", core, 0o600),
		unix.Mkfifo("core.2", 0o600)); err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for i, tt := range []struct{ file, want string }{
		{"", "which core? Give its file, or --last for the newest"},
		{"core", "which core? Give its file: there is a file core here: sfwalk core ./core"},
		{"core.4242", "there are 2 core files here, the newest one is core.4242: sfwalk core ./core.4242"},
		{"core-server.4243", "there are 3 core files here, the newest one is core-server.4243: sfwalk core ./core-server.4243"},
	} {
		if tt.file != "" {
			if err := errors.Join(os.WriteFile(tt.file, core, 0o600), os.Chtimes(tt.file, day, day.Add(time.Duration(i)*time.Minute))); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := commandtest.Run("core"); !isUsage(err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.file, err, tt.want)
		}
	}
	if _, said, err := commandtest.Run("core", "./core-server.4243"); err != nil && !errors.Is(err, exit.ErrEarly) {
		t.Errorf("what the message names: %v\n%s", err, said)
	}
	if _, err := os.Stat("/var/lib/systemd/coredump"); errors.Is(err, os.ErrNotExist) {
		if _, _, err := commandtest.Run("core", "--last"); err == nil || !strings.Contains(err.Error(), "keeps no cores here. But there are 3 core files here") {
			t.Errorf("--last: %v", err)
		}
	}
}

// TestStoredPage runs the commands of docs/coming-from.md, and the examples of --help, on a store.
func TestStoredPage(t *testing.T) {
	dir := t.TempDir()
	core, err := os.ReadFile("../../../target/core/testdata/amd64-gdb.core")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	path := fmt.Sprintf("%s/core.nginx.1000.64020dc3a9fe4bbd86e2f0b0c6ef52aa.4242.%d", dir, now.UnixMicro())
	if err := os.WriteFile(path, core, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(path, "user.coredump.exe", []byte("/usr/sbin/nginx"), 0); errors.Is(err, unix.ENOTSUP) {
		gdbtest.Cannot(t, "the file system of "+dir+" keeps no attributes")
	} else if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/coming-from.md")
	if err != nil {
		t.Fatal(err)
	}
	cmd, _, err := commandtest.New(nil).Find([]string{"core"})
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)(?:`|^ *)sfwalk (core [^`\n]*--(?:list|last|match)\\b[^`\n]*)").FindAllStringSubmatch(string(page)+"\n"+cmd.Example, -1) {
		if ran[m[1]] {
			continue
		}
		ran[m[1]] = true
		args := strings.Fields(strings.Replace(m[1], "/mnt/var/lib/systemd/coredump", dir, 1))
		if !strings.Contains(m[1], "--coredump-dir") {
			args = append(args, "--coredump-dir", dir)
		}
		out, said, err := commandtest.Run(args...)
		if err != nil && !errors.Is(err, exit.ErrEarly) || !strings.Contains(out, "/usr/sbin/nginx") && !strings.Contains(said, "/usr/sbin/nginx (PID 4242)") {
			t.Errorf("%s: %v\n%s%s", m[1], err, out, said)
		}
	}
	if len(ran) < 9 {
		t.Errorf("only %d commands: %v", len(ran), ran)
	}
}
