package profile

import (
	"math"
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

// Of one run that both record, record and perf report have the same shares, to a percentage point
// of 10,000 samples.
func TestSharesOfPerf(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.CanRecord(t)
	perf, dir := gdbtest.Perf(t), t.TempDir()
	data, folded := filepath.Join(dir, "perf.data"), filepath.Join(dir, "p.folded")
	// Two threads of six seconds of processor time each.
	cmd := exec.Command(perf, "record", "-q", "-e", "cpu-clock", "-F", "999", "-o", data,
		filepath.Join(commandtest.Install(t, "sfwalk"), "sfwalk"), "record", "-F", "999", "-o", folded, "--", gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "2", "12", "6")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	report, err := exec.Command(perf, "report", "-i", data, "--stdio", "--comms", "shares", "-F", "sample,sym").Output()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile(folded)
	if err != nil {
		t.Fatal(err)
	}
	theirs := sharesIn(t, string(report), regexp.MustCompile(`(?m)^ *(?<count>\d+) +\[.\] (?<function>\S+)`))
	for name, share := range sharesIn(t, string(ours), regexp.MustCompile(`(?m)[; ](?<function>[^; ]+) (?<count>\d+)$`)) {
		if math.Abs(share-theirs[name]) > 0.01 {
			t.Errorf("%s has %.2f %%, that of perf report is %.2f %%", name, 100*share, 100*theirs[name])
		}
	}
}

// sharesIn returns the shares of functions that have more than a hundredth of the samples in a
// text.
func sharesIn(t *testing.T, text string, line *regexp.Regexp) map[string]float64 {
	t.Helper()
	counts, all := map[string]float64{}, 0.0
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(m[line.SubexpIndex("count")], 64)
		if err != nil {
			t.Fatal(err)
		}
		counts[m[line.SubexpIndex("function")]] += n
		all += n
	}
	for name, n := range counts {
		if counts[name] = n / all; counts[name] < 0.01 {
			delete(counts, name)
		}
	}
	t.Logf("%v samples: %v", all, counts)
	if all < 10_000 || len(counts) < 3 {
		t.Errorf("too few samples:\n%s", strings.TrimSpace(text))
	}
	return counts
}
