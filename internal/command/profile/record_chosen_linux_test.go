package profile

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestRecordChosen finds the processes to record by their name, their parent, their control group
// and their container. Room processes' tests have the containers of each runtime.
func TestRecordChosen(t *testing.T) {
	commandtest.CanRecord(t)
	exe := filepath.Join(t.TempDir(), "chosen-"+strconv.Itoa(os.Getpid()))
	if err := os.Symlink(gdbtest.Build(t, "shares.c", "-O2", "-pthread"), exe); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.StartRunning(t, exe, "1", "5")
	record := func(flags ...string) {
		var doc struct {
			Samples []struct{ Labels map[string]any }
		}
		gdbtest.Await(t, fmt.Sprintf("%v finds samples", flags), func() bool { // a busy machine may not run it at once
			out, said, err := commandtest.Run(append([]string{"record", "-d", "300ms", "--format", "json", "-o", "-"}, flags...)...)
			if err := errors.Join(err, json.Unmarshal([]byte(out), &doc)); err != nil {
				t.Fatalf("%v: %v\n%s", flags, err, said)
			}
			return len(doc.Samples) > 0
		})
		for _, s := range doc.Samples {
			if s.Labels["pid"] != float64(p.PID) {
				t.Errorf("%v: a sample of process %v, want %d", flags, s.Labels["pid"], p.PID)
			}
		}
	}
	record("--name", filepath.Base(exe))
	record("--children", strconv.Itoa(p.PID))
	for _, verb := range []string{"record", "top"} {
		for args, want := range map[string]string{
			"--container no-such":          "there is no such container",
			"--cgroup no-such":             "no process is in such a group or container",
			"--name no-such":               "no process has this name",
			"--children 2147483647":        "no such process",
			"--container no-such --system": "different things to record: give one",
			filepath.Base(exe) + "x":       "want the number of one",
		} {
			if _, _, err := commandtest.Run(append([]string{verb}, strings.Fields(args)...)...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", verb, args, err, want)
			}
		}
	}
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(exe)))
	record("--cgroup", commandtest.InCgroup(t, p, "docker-"+id+".scope"))
	record("--container", id[:12])
	record("--container", id, "--wall")
}
