//go:build linux

package walk

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/peer"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	Rounds int   // of each, for each process; 0 for 7
	Depths []int // of the stacks; none for 30 and 1,000
}

// A contender is one way to walk.
type contender struct {
	name, rows, how string
	time            func() (float64, error) // one round: nanoseconds of a frame
	samples         []float64
	failed          error // why it cannot walk the stack
}

func (c *contender) value() report.Value {
	return report.Value{Number: report.Median(c.samples), Unit: report.Nanoseconds}
}

// cell is the contender's cell in the table.
func (c *contender) cell() string {
	if c.failed != nil {
		return "not measured: " + c.failed.Error()
	}
	return c.value().String()
}

// Measure measures all contenders on this machine.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 7
	}
	if o.Depths == nil {
		o.Depths = []int{30, 1000}
	}
	wait, err := d.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: "walk", Title: "One frame of a walk",
		Commands: []string{"go run ./internal/bench -only walk", "go test -bench . ./internal/bench/walk"},
		Text:     fmt.Sprintf(text, processes*o.Rounds, processes),
	}
	p := findPeers(d)
	s.Versions = append(p.versions, build.Compilers()...)
	for _, depth := range o.Depths {
		var list []*contender
		for range processes {
			again, stop, err := field(ctx, d, wait, depth, p)
			if err == nil {
				err = race(ctx, again, o.Rounds)
			}
			stop()
			if err != nil {
				return nil, fmt.Errorf("depth %d: %w", depth, err)
			}
			list = merge(list, again)
		}
		t := report.Table{Caption: fmt.Sprintf("**Depth %d**", depth), Head: []string{"walker", "rows", "", "time of a frame"}}
		for _, c := range list {
			t.Add(c.name, c.rows, c.how, c.cell())
		}
		s.Tables = append(s.Tables, t)
		s.Goals = append(s.Goals, goals(depth, list, p.missing)...)
	}
	return s, nil
}

// processes is the number of captured processes of each depth. The system maps each at other
// addresses, and these determine which rows share a slot of a cache.
const processes = 7

// merge adds the times for another process.
func merge(list, again []*contender) []*contender {
	if list == nil {
		return again
	}
	for i, c := range list {
		c.samples = append(c.samples, again[i].samples...)
		if c.failed == nil {
			c.failed = again[i].failed
		}
	}
	return list
}

// race has the contenders take turns.
func race(ctx context.Context, list []*contender, rounds int) error {
	for range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, c := range list {
			if c.failed != nil {
				continue
			}
			ns, err := c.time()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.samples = append(c.samples, ns)
		}
	}
	return nil
}

// field returns all contenders for a stack of that depth, and stop, which ends them.
func field(ctx context.Context, d build.Dir, wait string, depth int, p *peers) (list []*contender, stop func(), err error) {
	var ends []func()
	stop = func() {
		for _, end := range slices.Backward(ends) { // a tracer ends before its process
			end()
		}
	}
	target, err := process.Start(nil, wait, "1", strconv.Itoa(depth))
	if err != nil {
		return nil, stop, err
	}
	ends = append(ends, func() { target.Stop() })
	file := filepath.Join(d.Path, fmt.Sprintf("depth-%d.capture", depth))
	if err := Take(ctx, target.PID, file); err != nil {
		return nil, stop, err
	}
	c, err := Open(file)
	if err != nil {
		return nil, stop, err
	}
	ends = append(ends, func() { c.Close() })
	if list, err = ours(c); err != nil {
		return nil, stop, err
	}
	for _, one := range []struct {
		program, arg, name string
		probe              byte // a command that fails if there is nothing to walk
		commands           []command
	}{
		{p.framehop, file, framehop, 'p', []command{{'w', warm}, {'c', cold}}},
		{p.local, strconv.Itoa(depth), libunwind, 'f',
			[]command{{'s', unwStep}, {'r', unwStep + ", registers read"}, {'n', unwStep + ", no cache"}, {'b', unwTrace}}},
		{p.remote, strconv.Itoa(target.PID), libunwind, 'f', []command{{'s', "ptrace, cached"}, {'n', "ptrace, no cache"}}},
	} {
		if one.program == "" {
			continue
		}
		running, err := peer.Start(one.program, one.arg)
		if err != nil {
			return nil, stop, err
		}
		ends = append(ends, func() { running.Stop() })
		_, failed := running.Ask(one.probe)
		for _, k := range one.commands {
			list = append(list, &contender{name: one.name, rows: "DWARF", how: k.how, failed: failed,
				time: func() (float64, error) { return running.Time(k.letter) }})
		}
	}
	return list, stop, nil
}

type command struct {
	letter byte
	how    string
}

// The names that goals are about.
const (
	ourWalker = "`frame.Walker`"
	ourStack  = "`frame.Stack`"
	framehop  = "framehop"
	libunwind = "libunwind"

	warm      = "warm"
	cold      = "cold"
	registers = "warm, all registers"
	unwStep   = "unw_step"
	unwTrace  = "unw_backtrace" // libunwind's fast trace

	shallow = 30                  // the depth that most stacks have
	bound   = 4 * time.Nanosecond // a frame of a warm walk of such a stack
)

// ours returns this project's contenders.
func ours(c *Capture) (list []*contender, err error) {
	for _, r := range rows {
		table, err := newTable(c.arch, r.sniffers)
		if err != nil {
			return nil, err
		}
		w, err := newWalker(c, table)
		if err != nil {
			return nil, fmt.Errorf("%s rows: %w", r.name, err)
		}
		for _, k := range []struct {
			name, how string
			walk      func() int
		}{
			{ourWalker, warm, w.warm},
			{ourWalker, cold, w.cold},
			{ourStack, warm, (&stacker{c: c, table: table}).walk},
			{ourStack, cold, (&stacker{c: c, table: table.Clone(), cold: true}).walk},
			{ourStack, registers, (&stacker{c: c, table: table, registers: true}).walk},
		} {
			list = append(list, &contender{name: k.name, rows: r.name, how: k.how, time: func() (float64, error) { return nsPerFrame(k.walk) }})
		}
	}
	return list, nil
}

// goals are the project's; missing says why a peer is not in the list.
func goals(depth int, list []*contender, missing map[string]string) (goals []report.Goal) {
	find := func(name, rows, how string) *contender {
		for _, c := range list {
			if c.name == name && c.rows == rows && c.how == how {
				return c
			}
		}
		return nil
	}
	type aim struct {
		name, how, peer, peerHow string
		most                     float64
	}
	for _, r := range rows {
		aims := []aim{
			{ourWalker, warm, framehop, warm, 0.8},
			{ourWalker, cold, framehop, cold, 1},
			{ourStack, registers, libunwind, unwStep, 0.5},
		}
		if depth == shallow {
			if r.name == "DWARF" {
				aims[1].most = 0.8
			}
			aims = append(aims, aim{ourWalker, warm, libunwind, unwTrace, 0.5})
			goals = append(goals, report.Goal{What: fmt.Sprintf("%s, %s, depth %d, %s rows", ourWalker, warm, depth, r.name), Peer: "a bound", Most: 1,
				Ours: find(ourWalker, r.name, warm).value(), Theirs: report.Time(bound)})
		}
		for _, g := range aims {
			goal := report.Goal{What: fmt.Sprintf("%s, %s, depth %d, %s rows", g.name, g.how, depth, r.name), Peer: g.peer, Most: g.most}
			if g.how != g.peerHow {
				goal.Peer += " " + g.peerHow
			}
			us, them := find(g.name, r.name, g.how), find(g.peer, "DWARF", g.peerHow)
			switch {
			case them == nil:
				goal.Missing = missing[g.peer]
			case them.failed != nil:
				goal.Missing = them.failed.Error()
			default:
				goal.Ours, goal.Theirs = us.value(), them.value()
			}
			goals = append(goals, goal)
		}
	}
	return goals
}
