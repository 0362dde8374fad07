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

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Each verb that takes a PID takes it by -p and --pid, too.
func TestPIDFlag(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	other := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	pid, both := strconv.Itoa(p.PID), fmt.Sprintf("%d,%d", p.PID, other.PID)
	for _, tt := range []struct {
		args []string
		want string // in the output
	}{
		{[]string{"attach", "-p", pid, "--json"}, fmt.Sprintf(`{"pid":%s,`, pid)},
		{[]string{"attach", "--pid=" + pid, "--json"}, fmt.Sprintf(`{"pid":%s,`, pid)},
		{[]string{"attach", "-p" + pid, "-p", strconv.Itoa(other.PID)}, fmt.Sprintf("Process %d\n", other.PID)},
		{[]string{"attach", "-p", both}, fmt.Sprintf("Process %d\n", other.PID)},
		{[]string{"attach", "-p", strings.ReplaceAll(both, ",", " ") + "\n"}, fmt.Sprintf("Process %d\n", other.PID)},
		{[]string{"attach", pid, "-p", strconv.Itoa(other.PID)}, fmt.Sprintf("Process %d\n", other.PID)},
		{[]string{"call", "-p", pid, "(int) getpid()"}, pid + "\n"},
		{[]string{"call", "(int) getpid()", "--pid", pid}, pid + "\n"},
	} {
		out, stderr, err := command(tt.args...)
		if err != nil || !strings.Contains(out, tt.want) {
			t.Errorf("%q: %v\n%s%s", tt.args, err, out, stderr)
		}
	}
	for _, tt := range []struct{ line, want string }{
		{"call -p " + pid, "call: EXPRESSION is missing"},
		{"call -p " + both + " getpid()", "--pid " + both + ": want one process"},
		{"dlv attach -p " + both, "--pid " + both + ": want one process"},
		{"dlv attach -p " + pid + " --waitfor x", "exclude each other"},
		{"attach -p x", "attach x: no such process: want the number of one"},
		{"record -p x", "record x: no such process: want the number of one"},
		{"top -p x", "top x: no such process: want the number of one"},
		{"plugin run -p " + pid, "plugin run: PATH is missing"},
		{"attach -p ,", "want the number of a process"},
	} {
		_, _, err := command(strings.Fields(tt.line)...)
		if usage := (exit.Usage{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.line, err, tt.want)
		}
	}
}

// A name in place of a PID: the error has the PIDs that pgrep finds, and --name finds processes
// whose names are longer than the kernel keeps.
func TestNameForPID(t *testing.T) {
	long := "sfwalk-sleeper-long" // more than 15 bytes, the kernel's
	exe := filepath.Join(t.TempDir(), long)
	text, err := os.ReadFile(gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exe, text, 0o755); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, exe)
	short := long[:15]
	found, err := exec.Command(gdbtest.Tool(t, "pgrep"), "-x", short).Output()
	if err != nil {
		t.Fatal(err)
	}
	if pids := strings.Join(strings.Fields(string(found)), ", "); pids != strconv.Itoa(p.PID) {
		t.Fatalf("pgrep finds %s", pids)
	}
	for _, verb := range []string{"attach", "record", "top", "call"} {
		for _, name := range []string{short, long} {
			args := []string{verb, name}
			if verb == "call" {
				args = append(args, "getpid()")
			}
			_, _, err := command(args...)
			want := fmt.Sprintf("%s %s: want the number of a process: %[2]s is %d", verb, name, p.PID)
			if cmd, _, _ := Commands().Find([]string{verb}); cmd.Flags().Lookup("name") != nil {
				want = fmt.Sprintf("%s %s: want the number of a process: --name %[2]s finds %d", verb, name, p.PID)
			}
			if err == nil || err.Error() != want {
				t.Errorf("%s %s: %v, want %s", verb, name, err, want)
			}
		}
	}
	for name, there := range map[string]bool{short: true, long: true, long + "er": false, short[:14]: false} {
		out, _, err := command("attach", "--name", name, "--json")
		if there != (err == nil && strings.HasPrefix(out, fmt.Sprintf(`{"pid":%d,`, p.PID))) {
			t.Errorf("--name %s: %v\n%s", name, err, out)
		}
	}
}

// A number without a unit is seconds in each flag that is a time, of each command.
func TestDurationFlags(t *testing.T) {
	found := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "duration" {
				return
			}
			found++
			if err := f.Value.Set("2.5"); err != nil || f.Value.String() != "2.5s" {
				t.Errorf("%s --%s 2.5: %v, %s", cmd.CommandPath(), f.Name, err, f.Value)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(Commands())
	if found < 8 {
		t.Errorf("only %d flags are times", found)
	}
	_, _, err := command("record", "-d", "10x", "1")
	if usage := (exit.Usage{}); !errors.As(err, &usage) || !strings.Contains(err.Error(), "want seconds") {
		t.Errorf("-d 10x: %v", err)
	}
}
