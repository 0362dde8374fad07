package command

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The flag that programs have prints what the command does.
func TestVersionFlag(t *testing.T) {
	want, _, err := command("version")
	if err != nil || !strings.HasPrefix(want, "sfwalk ") {
		t.Fatal(want, err)
	}
	for _, flag := range []string{"--version", "-v"} {
		if got, _, err := command(flag); err != nil || got != want {
			t.Errorf("%s: %v, %q, want %q", flag, err, got, want)
		}
	}
}

// The shell completes processes, with their names, and the values of flags.
func TestCompletion(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	pid := strconv.Itoa(p.PID)
	comm, err := os.ReadFile("/proc/" + pid + "/comm")
	if err != nil {
		t.Fatal(err)
	}
	plugins := t.TempDir()
	mine := filepath.Join(plugins, "sniffer-mine")
	if err := os.WriteFile(mine, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SFWALK_PLUGIN_PATH", plugins)
	for _, tt := range []struct {
		args        []string
		has, hasNot string
	}{
		{[]string{"attach", pid[:len(pid)-1]}, pid + "\t" + strings.TrimSpace(string(comm)) + "\n", ""},
		{[]string{"attach", pid, ""}, "", pid},
		{[]string{"core", "--color", ""}, "auto\nalways\nnever\n", ""},
		{[]string{"dlv", "attach", pid}, pid + "\t", ""},
		{[]string{"attach", "--plugin", ""}, mine + "\n", ""},
		{[]string{"attach", "--plugin", "./"}, "", mine},
		{[]string{"plugin", "check", plugins}, mine + "\n", ""},
		{[]string{"plugin", "run", ""}, mine + "\n", pid},
		{[]string{"plugin", "run", mine, pid}, pid + "\t", mine},
		{[]string{"plugin", "run", mine, pid, ""}, "", pid},
		{[]string{"attach", "--sniffers", "dwarf,"}, "dwarf,sframe\n", "dwarf,dwarf"},
		{[]string{"attach", "--sniffers", "dwarf,"}, "dwarf,mine\n", ""},
		{[]string{"attach", "--sniffers", "mine,"}, "mine,dwarf\n", "mine,mine"},
		{[]string{"attach", "--no-plugins", "--sniffers", ""}, "dwarf\n", "mine"},
		{[]string{"attach", "--no-plugins", "--plugin", "./lib/sniffer-other", "--sniffers", ""}, "other\n", "mine"},
		{[]string{"dlv", "exec", "--sniffers", ""}, "mine\n", ""},
	} {
		out, _, err := command(append([]string{"__complete"}, tt.args...)...)
		if err != nil || !strings.Contains(out, tt.has) || tt.hasNot != "" && strings.Contains(out, tt.hasNot) {
			t.Errorf("%q: %v\n%s", tt.args, err, out)
		}
	}
}
