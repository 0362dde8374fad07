//go:build linux

package growth

import (
	"context"
	"fmt"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/plot"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	Rounds int // at each point, if the command is quick; 0 for 7
	Most   int // frames, threads and modules; 0 for as many as there are series for
}

// plotName is the name of the plot's file, beside the document.
const plotName = "growth.svg"

// flat is the ratio by which the cost of one more may grow, from the middle of a series to its end.
const flat = 1.5

// Measure measures all series.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 7
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	list, err := allSeries(d, o.Most)
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: "growth", Title: "Growth",
		Commands: []string{"go run ./internal/bench -only growth"}, Versions: build.Compilers(),
		Text: fmt.Sprintf(text, o.Rounds, threadDepth, plotName),
	}
	m := meter{contest.Meter{Run: run, Rounds: o.Rounds, Enough: enough}, sfwalk, run.CanHide(ctx)}
	for _, one := range list {
		if err := m.measure(ctx, one); err != nil {
			return nil, err
		}
		s.Tables = append(s.Tables, one.table())
		s.Goals = append(s.Goals, one.goals()...)
	}
	s.Files = map[string][]byte{plotName: []byte(draw(list))}
	return s, nil
}

const text = "`sfwalk attach PID` on processes with more and more frames (of one thread), threads (each\n" +
	"%[2]d functions deep), and modules (small shared libraries, with one frame of the stack in\n" +
	"each). The least of up to %[1]d runs, fewer where they are slow. One more: what it takes more than\n" +
	"for the smallest process, for each frame, thread or module more; the start is not in it.\n" +
	"Empty where the difference is no larger than the noise of the start. Separate debug files are\n" +
	"hidden, where the system lets them be, so that the start is short.\n" +
	"\n" +
	"![Time and memory for each frame, thread and module](%[3]s)"

func (s *series) table() report.Table {
	t := report.Table{Head: []string{s.unit + "s", "wall", "CPU", "peak memory", "CPU of one more", "memory of one more"}}
	for i, p := range s.points {
		row := []string{fmt.Sprint(p.size), report.Time(p.cost.Wall).String(), report.Time(p.cost.CPU).String(), report.Memory(p.cost.Peak).String(), "", ""}
		if i > 0 {
			cpu, peak := s.more(i)
			row[4], row[5] = cell(cpu), cell(peak)
		}
		t.Add(row...)
	}
	return t
}

// goals compare the largest process with one in the middle, which is so large that the noise of the
// start matters little.
func (s *series) goals() []report.Goal {
	last, middle := len(s.points)-1, len(s.points)-2
	if middle < 1 {
		return nil
	}
	cpu, peak := s.more(last)
	cpuBefore, peakBefore := s.more(middle)
	goal := func(what string, ours, theirs report.Value) report.Goal {
		g := report.Goal{
			What: fmt.Sprintf("%s of one more %s, at %d", what, s.unit, s.points[last].size),
			Peer: fmt.Sprintf("at %d", s.points[middle].size), Ours: ours, Theirs: theirs, Most: flat,
		}
		if ours.Number < 0 || theirs.Number < 0 {
			g.Missing = "no more than the noise of the start"
		}
		return g
	}
	return []report.Goal{goal("CPU", cpu, cpuBefore), goal("memory", peak, peakBefore)}
}

// cell is empty for a value that is only noise.
func cell(v report.Value) string {
	if v.Number < 0 {
		return ""
	}
	return v.String()
}

// draw makes the plot: time above, memory below.
func draw(list []*series) string {
	var times, memory []plot.Panel
	for _, s := range list {
		cpu := []plot.Series{{Name: "whole / " + s.unit + "s"}, {Name: "one more"}}
		peak := []plot.Series{{Name: "whole / " + s.unit + "s"}, {Name: "one more"}}
		for i, p := range s.points {
			n := float64(p.size)
			cpu[0].Points = append(cpu[0].Points, plot.Point{X: n, Y: float64(p.cost.CPU) / n})
			peak[0].Points = append(peak[0].Points, plot.Point{X: n, Y: float64(p.cost.Peak) / n})
			if i > 0 {
				c, m := s.more(i)
				cpu[1].Points = append(cpu[1].Points, plot.Point{X: n, Y: c.Number})
				peak[1].Points = append(peak[1].Points, plot.Point{X: n, Y: m.Number})
			}
		}
		times = append(times, plot.Panel{Title: "CPU time for each " + s.unit, X: s.unit + "s", Series: cpu, Label: label("ns", "µs", "ms", "s")})
		memory = append(memory, plot.Panel{Title: "Peak memory for each " + s.unit, X: s.unit + "s", Series: peak, Label: label("B", "kB", "MB", "GB")})
	}
	return plot.SVG(append(times, memory...), len(list))
}

// label names powers of ten.
func label(units ...string) func(float64) string {
	return func(v float64) string {
		i := 0
		for ; v >= 1000 && i < len(units)-1; i++ {
			v /= 1000
		}
		return fmt.Sprintf("%g %s", v, units[i])
	}
}
