package profile

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// go tool pprof selects samples by the labels that the program has given its goroutines; the JSON
// document has them, too.
func TestRecordLabels(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedAMD64(t)
	pprof := gdbtest.Tool(t, "go")
	folder := t.TempDir()
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "gobusylabels"), filepath.Join(folder, "own.pb.gz"))
	out := filepath.Join(folder, "p.pb.gz")
	var blue string
	gdbtest.Await(t, "there are samples with labels", func() bool {
		if _, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "-d", "1s", "-F", "499", "-o", out); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		text, err := exec.Command(pprof, "tool", "pprof", "-top", "-tagfocus", "tenant=blue", out).CombinedOutput()
		blue = string(text)
		return err == nil && strings.Contains(blue, "main.steadyBlue")
	})
	for _, other := range []string{"main.steadyRed", "main.changing", "main.brief"} {
		if strings.Contains(blue, other) {
			t.Errorf("the tenant blue has %s:\n%s", other, blue)
		}
	}
	out = filepath.Join(folder, "p.json")
	gdbtest.Await(t, "a sample has the labels of the tenant red", func() bool {
		if _, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "-d", "1s", "-F", "499", "--format", "json", "-o", out); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		var x struct {
			Samples []struct{ Labels map[string]any }
		}
		if err := json.Unmarshal(text, &x); err != nil {
			t.Fatal(err)
		}
		for _, s := range x.Samples {
			if s.Labels["tenant"] == "red" && s.Labels["kind"] == "steady" && s.Labels["goroutine"] != 0.0 {
				return true
			}
		}
		return false
	})
}
