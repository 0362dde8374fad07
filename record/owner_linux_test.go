package record

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/perfmap"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Names for code of a process are taken from a file of its own user, or of root's: anybody may
// write to /tmp.
func TestPerfMapOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		gdbtest.Cannot(t, "only root gives files away")
	}
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "naps.c", "-O2"))
	name := filepath.Join("/tmp", fmt.Sprintf("perf-%d.map", p.PID))
	if err := os.WriteFile(name, []byte("1000 10 made\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(name) })
	for owner, want := range map[int]bool{0: true, 65534: false} {
		if err := os.Chown(name, owner, -1); err != nil {
			gdbtest.Cannot(t, err.Error())
		}
		f, err := perfmap.OpenOf(p.PID)
		if err == nil {
			f.Close()
		}
		if (err == nil) != want {
			t.Errorf("the file of user %d: %v", owner, err)
		}
	}
}
