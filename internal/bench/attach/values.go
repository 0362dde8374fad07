//go:build linux

package attach

import (
	"context"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

const (
	oursLocals = "sfwalk attach --locals"
	gdbLocals  = "gdb bt full"

	localsWall   = 0.1  // of gdb's wall time
	localsMemory = 0.25 // of gdb's peak
	localsPause  = 10 * time.Millisecond
)

var localsHead = []string{"command", "frames", "wall", "CPU", "peak memory", "longest gap (least): deep thread", "idle thread", "untouched"}

// MeasureValues runs commands that print all local variables of all frames.
func MeasureValues(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	list := []tool{
		{name: oursLocals, args: []string{sfwalk, "attach", "--locals", "PID"}},
		{name: ours, args: []string{sfwalk, "attach", "PID"}}, // for comparison: what the values cost
	}
	c := comparison{
		part: "values", title: "Arguments and local variables",
		text: `Each command prints all arguments and local variables of all frames. Processes, rounds (%d) and gaps are as above. gdb
holds the process as long as it runs. Here, the debug files of libraries are not hidden. sfwalk keeps what it has inflated of them.
`,
		ours: list, gdb: tool{name: gdbLocals, args: gdbCommand("thread apply all bt full")}, head: localsHead, row: (*sample).row, goals: valueGoals,
		debugFiles: true,
	}
	s, err := c.measure(ctx, d, o)
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	t, goals, err := measureUnits(ctx, d, run, o, list[0])
	if err != nil {
		return nil, err
	}
	s.Tables, s.Goals = append(s.Tables, *t), append(s.Goals, goals...)
	return s, nil
}

func valueGoals(p scenario, samples []*sample, missing string) (list []report.Goal) {
	by := map[string]*sample{}
	for _, s := range samples {
		by[s.tool.name] = s
	}
	us, gdb := by[oursLocals], by[gdbLocals]
	wall := report.Goal{What: p.name + ": wall", Peer: gdbLocals, Most: localsWall, Missing: missing}
	peak := report.Goal{What: p.name + ": peak memory", Peer: gdbLocals, Most: localsMemory, Missing: missing}
	if gdb != nil {
		wall.Ours, wall.Theirs = report.Time(report.Median(us.wall)), report.Time(report.Median(gdb.wall))
		peak.Ours, peak.Theirs = report.Memory(report.Median(us.peak)), report.Memory(report.Median(gdb.peak))
	}
	return append(list, wall, peak, report.Goal{What: p.name + ": pause", Peer: "a bound", Most: 1,
		Ours: report.Time(us.pause()), Theirs: report.Time(localsPause)})
}
