//go:build linux && system

package systemtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// build compiles a package of this module for the guest's processor, or ("test", "-c") its tests.
func (g *Guest) build(t *testing.T, out, pkg string, command ...string) {
	t.Helper()
	cmd := exec.Command("go", append(command, "-o", out, pkg)...)
	cmd.Dir, cmd.Env = g.Source, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+g.GOARCH)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, text)
	}
}

// TestKernels boots each kernel, and tests in it.
func TestKernels(t *testing.T) {
	for _, p := range []*Processor{ARM64, S390X} {
		t.Run(p.GOARCH, func(t *testing.T) {
			begin := time.Now()
			g := Boot(t, p)
			t.Logf("%s, after %v", strings.TrimSpace(g.Shell(t, patience, "uname -srm")), time.Since(begin).Round(time.Second/10))
			binary := filepath.Join(g.Temp, "sfwalk")
			g.build(t, binary, "./cmd/sfwalk", "build")
			g.Put(t, "/bin/sfwalk", binary)
			g.PutTree(t, filepath.Join(g.Source, "internal", "systemtest", "testdata"))
			equal.stacks, equal.frames = 0, 0
			t.Run("attach", g.attach)
			t.Logf("%d stacks with %d frames are as gdb has them", equal.stacks, equal.frames)
			t.Run("go", g.goes)
			t.Run("undisturbed", g.undisturbed)
			t.Run("perf", g.perf)
			t.Run("record", g.record)
			t.Run("live", g.live)
		})
	}
}

var (
	result  = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): .*$`)
	skipped = regexp.MustCompile(`(?m)^.*(?:\n *--- SKIP: .*)+$`) // with the reason
)

// liveLimit bounds how long the tests of target/live take: some minutes on an idle machine.
const liveLimit = time.Hour

// live runs the tests of target/live in the guest.
func (g *Guest) live(t *testing.T) {
	dir := filepath.Join(g.Source, "target", "live")
	binary := filepath.Join(g.Temp, "live.test")
	g.build(t, binary, "./target/live", "test", "-c")
	g.Put(t, binary, binary)
	g.Put(t, filepath.Join(g.Source, "go.mod"), filepath.Join(g.Source, "go.mod"))
	g.PutTree(t, filepath.Join(dir, "testdata"))
	g.PutTree(t, filepath.Join(g.Source, "testdata", "progs"))
	args := []string{binary, "-test.v", "-test.timeout", liveLimit.String()}
	if only := os.Getenv("SFWALK_SYSTEM_RUN"); only != "" {
		args = append(args, "-test.run", only)
	}
	out, code := g.Run(t, liveLimit+time.Minute, dir, args...)
	counts := map[string]int{}
	for _, r := range result.FindAllStringSubmatch(out, -1) {
		counts[r[1]]++
	}
	t.Logf("%d passed, %d failed, %d were skipped:\n%s", counts["PASS"], counts["FAIL"], counts["SKIP"], strings.Join(skipped.FindAllString(out, -1), "\n"))
	if code != 0 || counts["PASS"] == 0 {
		t.Errorf("exit status %d:\n%s", code, out)
	}
}
