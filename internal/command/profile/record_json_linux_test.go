package profile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// The JSON document has the fields that docs/json.md has, and the stacks of the program.
func TestRecordJSON(t *testing.T) {
	exe := gdbtest.Build(t, "shares.c", "-g", "-O2", "-pthread")
	p := gdbtest.StartRunning(t, exe, "2", "5")
	out := filepath.Join(t.TempDir(), "p.json")
	if _, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "--wall", "-d", "500ms", "--format", "json", "-o", out); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Modules []struct{ Path string }
		Places  []struct {
			Function string
			Module   *int
			Address  string
			Code     string
		}
		Samples []struct {
			Frames []int
			Values []int64
			Labels map[string]any
		}
	}
	if err := json.Unmarshal(text, &x); err != nil {
		t.Fatal(err)
	}
	threads := map[any]bool{}
	for _, s := range x.Samples {
		threads[s.Labels["tid"]] = true
		if s.Labels["pid"] != float64(p.PID) || s.Labels["state"] == "" || len(s.Values) != 2 {
			t.Errorf("%+v", s)
		}
	}
	if len(threads) != 3 {
		t.Errorf("threads %v\n%s", threads, text)
	}
	for _, at := range x.Places {
		want := ""
		switch {
		case at.Module != nil && x.Modules[*at.Module].Path == exe:
			want = "program"
		case at.Module != nil:
			want = "library"
		case len(at.Address) == len("0xffffffff81000000"):
			want = "kernel"
		}
		if at.Code != want {
			t.Errorf("%+v: want %q", at, want)
		}
	}
	commandtest.InPage(t, "sfwalk record", string(text))
}
