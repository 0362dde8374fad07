package stacks_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var profiled = regexp.MustCompile(`(?m)^(\d+) @ .*\n(?:# labels: (\{.*\})\n)?`)

// TestGoroutineLabels: goroutines have the labels that the program itself writes in its profile,
// live and in a core; a stripped program's.
func TestGoroutineLabels(t *testing.T) {
	exe := gdbtest.Build(t, "golabels", "-ldflags=-s -w")
	cmd := exec.Command(exe)
	profile, err := os.Create(filepath.Join(t.TempDir(), "profile")) // whole when the program is ready
	if err != nil {
		t.Fatal(err)
	}
	defer profile.Close()
	cmd.Stderr = profile
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(profile.Name())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, m := range profiled.FindAllStringSubmatch(string(written), -1) {
		if n, _ := strconv.Atoi(m[1]); m[2] != "" && m[2] != "{}" {
			want[m[2]] += n
		}
	}
	if len(want) < 4 {
		t.Fatalf("the program's profile has %d sets of labels:\n%s", len(want), written)
	}
	long := `{"long":"` + strings.Repeat("ä", 700) + `"}`
	if want[long] != 1 {
		t.Fatalf("no long label in\n%s", written)
	}
	delete(want, long)
	want[`{"long":"`+strings.Repeat("ä", 512)+`…"}`] = 1 // cut

	pid := strconv.Itoa(cmd.Process.Pid)
	core := filepath.Join(t.TempDir(), "core")
	commandtest.GCore(t, cmd.Process.Pid, core)
	for _, where := range [][]string{{"attach", pid}, {"core", core, "--exe", exe}} {
		text, errs, err := commandtest.Run(append(where, "--goroutines")...)
		if err != nil {
			t.Fatalf("%v\n%s", err, errs)
		}
		got := map[string]int{}
		for _, m := range regexp.MustCompile(`(?m)^(?:(\d+) goroutines|Goroutine \d+) \[.*\n  labels: (\{.*\})$`).FindAllStringSubmatch(text, -1) {
			n := 1
			if m[1] != "" {
				n, _ = strconv.Atoi(m[1])
			}
			got[m[2]] += n
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: labels %v, the program's profile has %v\n%s", where[0], got, want, text)
		}
		text, _, _ = commandtest.Run(append(where, "--goroutines", "--json")...)
		var doc struct {
			Goroutines []struct{ Labels map[string]string }
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		red := 0
		for _, g := range doc.Goroutines {
			if g.Labels["handler"] == "list" && g.Labels["tenant"] == "red" {
				red++
			}
		}
		if red != want[`{"handler":"list", "tenant":"red"}`] {
			t.Errorf("%s: %d goroutines of tenant red in JSON", where[0], red)
		}
	}
	folder := t.TempDir()
	if _, errs, err := commandtest.Run("attach", pid, "--goroutines", "--format", "pprof", "-o", filepath.Join(folder, "x.pprof")); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	tags, err := exec.Command(gdbtest.Tool(t, "go"), "tool", "pprof", "-tags", filepath.Join(folder, "x.pprof")).Output()
	if err != nil || !regexp.MustCompile(`(?m)^\s*tenant: .*\n(.*\n)*?\s+7 .*: blue$`).Match(tags) {
		t.Errorf("go tool pprof -tags: %v\n%s", err, tags)
	}
}
