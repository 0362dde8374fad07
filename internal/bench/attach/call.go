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
	oursCall  = "sfwalk call"
	aloneCall = "sfwalk call --alone" // all threads are held
	gdbCall   = "gdb call"

	callGoal = 0.1 // of gdb's wall time
)

var callHead = []string{"command", "wall", "CPU", "peak memory", "longest gap (least): calling thread", "idle thread", "untouched"}

// MeasureCalls runs commands that have a process call a function.
func MeasureCalls(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 21
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	list := []tool{
		{oursCall, []string{sfwalk, "call", "PID", "getpid()"}},
		{aloneCall, []string{sfwalk, "call", "--alone", "PID", "getpid()"}},
	}
	versions, missing := build.Compilers(), "gdb is not installed"
	if gdb, err := exec.LookPath("gdb"); err == nil {
		list = append(list, tool{gdbCall, []string{gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", "PID", "-ex", "call (int) getpid()"}})
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
		Part: "call", Title: "A live process calls a function", Versions: versions,
		Commands: []string{"go run ./internal/bench -only call"},
		Text: fmt.Sprintf(`Each command has the first thread of a live process call getpid(). Processes, rounds (%d) and gaps are as above. With
--alone, all threads are held. The function itself takes less than a microsecond.
`, o.Rounds),
	}
	for _, p := range processes {
		bound, called := callPauses[p.name]
		if !called || o.Small && len(s.Tables) > 0 {
			continue
		}
		samples, err := measure(ctx, &meter{run, d.Path, o.Rounds, run.CanHide(ctx)}, p, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		t := report.Table{Caption: "**" + p.title() + "**", Head: callHead}
		for _, one := range samples {
			row := one.row()
			t.Add(append(row[:1:1], row[2:]...)...)
		}
		s.Tables = append(s.Tables, t)
		s.Goals = append(s.Goals, callGoals(p, samples, bound, missing)...)
	}
	if len(s.Tables) == 0 {
		return nil, errors.New("no process was called")
	}
	return s, nil
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
