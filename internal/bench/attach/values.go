//go:build linux

package attach

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
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
	if o.Rounds == 0 {
		o.Rounds = 21
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	list := []tool{
		{oursLocals, []string{sfwalk, "attach", "--locals", "PID"}},
		{ours, []string{sfwalk, "attach", "PID"}}, // for comparison: what the values cost
	}
	versions, missing := build.Compilers(), "gdb is not installed"
	if gdb, err := exec.LookPath("gdb"); err == nil {
		list = append(list, tool{gdbLocals, []string{gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", "PID", "-ex", "thread apply all bt full"}})
		versions, missing = append([]string{build.Version(gdb)}, versions...), ""
	}
	processes, err := scenarios(d)
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: "values", Title: "Arguments and local variables", Versions: versions,
		Commands: []string{"go run ./internal/bench -only values"},
		Text: fmt.Sprintf(`Each command prints all arguments and local variables of all frames. Processes, rounds (%d) and gaps are as above. gdb
holds the process as long as it runs.
`, o.Rounds),
	}
	for _, p := range processes {
		if p.name != "1 × 40" && p.name != "200 × 40" || o.Small && len(s.Tables) > 0 {
			continue
		}
		samples, err := measure(ctx, &meter{run, d.Path, o.Rounds, run.CanHide(ctx)}, p, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		t := report.Table{Caption: "**" + p.title() + "**", Head: localsHead}
		for _, one := range samples {
			t.Add(one.row()...)
		}
		s.Tables = append(s.Tables, t)
		s.Goals = append(s.Goals, valueGoals(p, samples, missing)...)
	}
	if len(s.Tables) == 0 {
		return nil, errors.New("no process was looked at")
	}
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
