package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
)

// TestSymbolsCheck: exit codes and the sentences of `symbols check`.
func TestSymbolsCheck(t *testing.T) {
	program := gdbtest.Build(t, "chain.c", gdbtest.Plain...)
	dir := t.TempDir()
	good, theirs, broken := filepath.Join(dir, "good.sym"), filepath.Join(dir, "theirs.sym"), filepath.Join(dir, "broken.sym")
	if _, errOut, err := command("symbols", "dump", program, "-o", good); err != nil || !strings.Contains(errOut, "functions") {
		t.Fatal(err, errOut)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	peer, err := exec.Command(gdbtest.Breakpad(t, "dump_syms"), "-d", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "FUNC ") {
			lines[i+1] = "1 1 1 0\n" + lines[i+1]
			break
		}
	}
	if err := errors.Join(os.WriteFile(theirs, peer, 0o666), os.WriteFile(broken, []byte(strings.Join(lines, "\n")), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		code int
		want string // in what is printed
	}{
		{[]string{good}, 0, "nothing is wrong"},
		{[]string{good, program}, 0, "agree, for all"},
		{[]string{theirs}, 0, "nothing is wrong"},
		{[]string{theirs, program}, exitDisagree, ".cfa differs"}, // the linkage stubs
		{[]string{broken}, exitDisagree, "is not in its function"},
		{[]string{good, "/bin/ls"}, exitTrouble, "of another build"},
		{[]string{program}, exitTrouble, "not a Breakpad symbol file"},
		{[]string{filepath.Join(dir, "none")}, exitTrouble, "no such file"},
		{[]string{good, good}, exitTrouble, "not an ELF file"},
	} {
		out, _, err := command(append([]string{"symbols", "check"}, x.args...)...)
		status := exitStatus{}
		if errors.As(err, &status); status.code != x.code || (err != nil && x.code == 0) {
			t.Errorf("%v: %v, want exit code %d", x.args, err, x.code)
		}
		if err != nil {
			out += err.Error()
		}
		if !strings.Contains(out, x.want) {
			t.Errorf("%v: %s\nwant %q", x.args, out, x.want)
		}
	}
}
