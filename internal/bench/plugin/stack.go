//go:build linux

package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// depth is how many frames of machine code the deep stack has; there are as many of C.
const depth = 500

// functions of machine code in the stack that the goal is for.
const functions = 50

// stacks measures a stack of 1,000 frames, with few functions and with many. Every second
// frame is the plug-in's.
func stacks(ctx context.Context, p *programs, _ build.Dir, o Options, s *report.Section) error {
	t := report.Table{
		Caption: fmt.Sprintf("**A stack of %d frames**, of which every second is the plug-in's: what one of these takes more than when a sniffer that is no plug-in unwinds it; 0 where no difference is to be seen", 2*depth),
		Head:    []string{"functions", "the plug-in tells", "questions", "first walk", "row known to the host", "row in the table"},
	}
	for _, n := range []int{1, functions, depth} {
		subject, err := newSubject(ctx, p, depth, n)
		if err != nil {
			return err
		}
		err = subject.stack(ctx, p, n, o.Rounds, &t, s)
		subject.close()
		if err != nil {
			return fmt.Errorf("%d functions: %w", n, err)
		}
	}
	s.Tables = append(s.Tables, t)
	return nil
}

// tells is what each way of answering tells.
var tells = []struct{ how, what string }{
	{plain, "the function's row"},
	{ahead, "and 63 more"},
	{once, "for that frame alone"},
}

// walks are the times of a walk in its three states.
type walks struct {
	first, recalled, warm []time.Duration
	asked                 uint64
}

func (s *subject) stack(ctx context.Context, p *programs, n, rounds int, t *report.Table, section *report.Section) error {
	plugins := map[string]*external.Plugin{}
	for _, x := range tells {
		p, err := external.Start(ctx, external.Options{Path: p.plugin[x.how], Deadline: time.Minute}) // also on a busy machine
		if err != nil {
			return err
		}
		defer p.Close()
		plugins[x.how] = p
	}
	var base walks
	all := map[string]*walks{}
	for _, x := range tells {
		all[x.how] = &walks{}
	}
	for range rounds {
		if err := base.round(s, s.own); err != nil {
			return err
		}
		for _, x := range tells {
			asks := plugins[x.how].Sniffer(s.about())
			err := all[x.how].round(s, asks)
			asks.Close()
			if err = errors.Join(err, plugins[x.how].Err()); err != nil {
				return fmt.Errorf("%s: %w", x.how, err)
			}
		}
	}
	for _, x := range tells {
		w := all[x.how]
		t.Add(fmt.Sprint(n), x.what, fmt.Sprint(w.asked), more(w.first, base.first).String(), more(w.recalled, base.recalled).String(), more(w.warm, base.warm).String())
		if n == functions && x.how == ahead {
			section.Goals = append(section.Goals, report.Goal{
				What: fmt.Sprintf("a plug-in's frame, every second of %d, %d functions", 2*depth, functions), Peer: "a bound", Most: 1,
				Ours: more(w.first, base.first), Theirs: report.Time(frameGoal),
			})
		}
	}
	return nil
}

// more returns the additional time of a frame, compared with another walk.
func more(w, base []time.Duration) report.Value {
	return report.Time(max(report.Median(w)-report.Median(base), 0) / depth)
}

// round walks three times: with a sniffer that was not asked yet; with one that was, by a table
// without its rows; and by a table with them.
func (w *walks) round(s *subject, x frame.Sniffer) error {
	table := s.table(x)
	for _, to := range []*[]time.Duration{&w.first, &w.recalled, &w.warm} {
		if to == &w.recalled {
			table.Reset()
		}
		begin := time.Now()
		n, err := s.walk(table)
		took := time.Since(begin)
		if err == nil && n != s.frames {
			err = fmt.Errorf("%d frames, %d without the plug-in", n, s.frames)
		}
		if err != nil {
			return err
		}
		*to = append(*to, took)
		if x, ok := x.(*external.Sniffer); ok && to == &w.first {
			w.asked = x.Stats().Asked
		}
	}
	return nil
}
