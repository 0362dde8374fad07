package record_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A sample stands for as many events, or nanoseconds, as perf says, however perf was told how often
// to take one; and profiles of a clock say how much is from one sample to the next.
func TestPeriods(t *testing.T) {
	perf := gdbtest.Perf(t)
	exe := gdbtest.Build(t, "chains.c", "-O1", "-fno-omit-frame-pointer", "-static")
	for _, v := range []struct {
		flags  string
		kind   string
		period int64 // nanoseconds
		each   int64 // what each sample stands for; 0 for what perf script says
	}{
		{"-e cpu-clock -c 1000000", "cpu", 1000000, 0},
		{"-e task-clock -c 700000", "task-clock", 700000, 0},
		{"-e task-clock -F 200", "task-clock", 5000000, 0},
		{"-e cpu-clock -F 200 --no-period", "cpu", 5000000, 5000000}, // perf script takes the frequency for the period
		{"-e page-faults -c 1", "page-faults", 0, 0},
	} {
		t.Run(v.flags, func(t *testing.T) {
			file := perfRecord(t, append(strings.Fields(v.flags), exe, "1")...)
			out, err := exec.Command(perf, "script", "-i", file, "-F", "period").Output()
			if err != nil {
				t.Fatal(err)
			}
			var theirs, samples, ours, ourSamples int64
			for _, field := range strings.Fields(string(out)) {
				var n int64
				fmt.Sscan(field, &n)
				theirs, samples = theirs+n, samples+1
			}
			if v.each != 0 {
				theirs = v.each * samples
			}
			_, stacks := fileOf(t, file)
			for _, s := range stacks.Samples {
				ourSamples, ours = ourSamples+s.Values[0], ours+s.Values[1]
			}
			if ours != theirs || ourSamples != samples || samples == 0 {
				t.Errorf("%d samples of %d; perf has %d of %d", ourSamples, ours, samples, theirs)
			}
			if stacks.Types[1].Name != v.kind || stacks.Period != v.period || v.period > 0 && stacks.PeriodType != stacks.Types[1] {
				t.Errorf("%v, %d of %v", stacks.Types, stacks.Period, stacks.PeriodType)
			}
		})
	}
}
