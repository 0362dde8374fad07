package stacks_test

import (
	"encoding/json"
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

// With --explain, a reason that several sniffers have is printed once for each frame.
func TestExplainedOnce(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	out, _, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--explain")
	if err != nil {
		t.Fatal(err)
	}
	declined := regexp.MustCompile(`^ +(.*) declined: (.*)$`)
	reasons, several := map[string]bool{}, 0
	for line := range strings.Lines(out) {
		m := declined.FindStringSubmatch(strings.TrimRight(line, "\n"))
		switch {
		case strings.HasPrefix(line, "#"):
			clear(reasons)
		case m == nil:
		case reasons[m[2]]:
			t.Errorf("twice: %s", line)
		default:
			reasons[m[2]] = true
			several += strings.Count(m[1], ", ")
		}
	}
	if several == 0 {
		t.Error("no two sniffers have one reason: the test has not tested anything")
	}
}

// Warnings are in the JSON document as on standard error.
func TestWarningsInJSON(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "chain")
	text, err := os.ReadFile(gdbtest.Build(t, "chain.c", gdbtest.Plain...))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o755); err != nil {
		t.Fatal(err)
	}
	// A link to a debug file that is another build's.
	debug := filepath.Join(dir, "chain.debug")
	for _, args := range [][]string{{"--only-keep-debug", file, debug}, {"--strip-all", "--add-gnu-debuglink=" + debug, file}} {
		if out, err := exec.Command(gdbtest.Tool(t, "objcopy"), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := os.WriteFile(debug, append(text, "other"...), 0o644); err != nil {
		t.Fatal(err)
	}
	p := gdbtest.Start(t, file)
	out, stderr, err := commandtest.Run("attach", strconv.Itoa(p.PID), "--json")
	var doc struct{ Warnings []string }
	if err != nil || json.Unmarshal([]byte(out), &doc) != nil || len(doc.Warnings) == 0 {
		t.Fatalf("%v\n%s\n%s", err, out, stderr)
	}
	for _, w := range doc.Warnings {
		if !strings.Contains(stderr, "sfwalk: warning: "+w+"\n") {
			t.Errorf("%q is not on standard error:\n%s", w, stderr)
		}
	}
	if strings.Count(stderr, "warning: ") != len(doc.Warnings) {
		t.Errorf("%d warnings, want those of standard error:\n%s", len(doc.Warnings), stderr)
	}
}
