//go:build linux

package attach

import (
	"context"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

const (
	oursCall  = "sfwalk call"
	aloneCall = "sfwalk call --alone" // all threads are held
	gdbCall   = "gdb call"

	callGoal = 0.1 // of gdb's wall time
)

var callHead = []string{"command", "wall", "CPU", "peak memory", "longest gap (least): calling thread", "idle thread", "untouched"}

// MeasureCalls runs commands that have a process call a function.
func MeasureCalls(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	list := []tool{
		{name: oursCall, args: []string{sfwalk, "call", "PID", "getpid()"}},
		{name: aloneCall, args: []string{sfwalk, "call", "--alone", "PID", "getpid()"}},
	}
	c := comparison{
		part: "call", title: "A live process calls a function",
		text: `Each command has the first thread of a live process call getpid(). Processes, rounds (%d) and gaps are as above. With
--alone, all threads are held. The function itself takes less than a microsecond.
`,
		ours: list, gdb: tool{name: gdbCall, args: gdbCommand("call (int) getpid()")}, head: callHead, calls: true,
		row: func(s *sample) []string { row := s.row(); return append(row[:1:1], row[2:]...) },
		goals: func(p scenario, samples []*sample, missing string) []report.Goal {
			return callGoals(p, samples, callPauses[p.name], missing)
		},
	}
	return c.measure(ctx, d, o)
}

// callPauses are the longest pauses that were aimed at, by the scenario.
var callPauses = map[string]time.Duration{"1 × 40": 5 * time.Millisecond, "200 × 40": 20 * time.Millisecond}

func callGoals(p scenario, samples []*sample, bound time.Duration, missing string) (list []report.Goal) {
	wall := map[string][]time.Duration{}
	for _, s := range samples {
		wall[s.tool.name] = s.wall
		if s.tool.name == oursCall || s.tool.name == aloneCall {
			list = append(list, report.Goal{What: p.name + ": pause of " + s.tool.name, Peer: "a bound", Most: 1,
				Ours: report.Time(s.pause()), Theirs: report.Time(bound)})
		}
	}
	g := report.Goal{What: p.name + ": wall", Peer: gdbCall, Most: callGoal, Missing: missing}
	if missing == "" {
		g.Ours, g.Theirs = report.Time(report.Median(wall[oursCall])), report.Time(report.Median(wall[gdbCall]))
	}
	return append([]report.Goal{g}, list...)
}
