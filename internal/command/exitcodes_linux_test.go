package command

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestExitCodes runs the command as a user does.
func TestExitCodes(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "sfwalk")
	if out, err := exec.Command(gdbtest.Tool(t, "go"), "build", "-o", bin, "../../cmd/sfwalk").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"version"}, exit.Whole},
		{[]string{"help"}, exit.Whole},
		{[]string{"completion", "bash"}, exit.Whole},
		{[]string{"demo"}, exit.Whole},
		{[]string{"demo", "--sniffers", "sframe"}, exit.SomeEarly},
		{[]string{"attach", "2147483647"}, exit.Error},
		{[]string{"attach"}, exit.BadUsage},
		{[]string{"unwind"}, exit.BadUsage},
	} {
		cmd := exec.Command(bin, tt.args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != tt.want || (got == exit.Error || got == exit.BadUsage) != (stderr.Len() > 0) {
			t.Errorf("sfwalk %v: exit code %d, want %d; %s", tt.args, got, tt.want, &stderr)
		}
	}
}
