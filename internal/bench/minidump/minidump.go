//go:build linux

package minidump

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/internal/test/breakpadpeer"
)

// Options of Measure.
type Options struct {
	Rounds int // of each command; 0 for 3
	Size   int // of the symbol file, bytes; 0 for 300 MB
	Dumps  int // of the batch; 0 for 10,000
	Looped int // dumps of the peer's loop; 0 for 100
}

// Measure measures one crash with a large symbol file, and a batch.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	for p, usual := range map[*int]int{&o.Rounds: 3, &o.Size: 300 << 20, &o.Dumps: 10_000, &o.Looped: 100} {
		if *p == 0 {
			*p = usual
		}
	}
	s := &report.Section{
		Part: "minidump", Title: "Minidumps",
		Commands: []string{"go run ./internal/bench -only minidump"}, Versions: build.Compilers(),
		Text: fmt.Sprintf(text, o.Size/1_000_000, o.Rounds, o.Dumps, o.Looped),
	}
	stackwalk, err := breakpadpeer.Tool("minidump_stackwalk")
	dumpSyms, err2 := breakpadpeer.Tool("dump_syms")
	if err := errors.Join(err, err2); err != nil {
		for _, g := range goals {
			g.Missing = err.Error()
			s.Goals = append(s.Goals, g)
		}
		return s, nil
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(d.Path, "minidump-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	b := &bench{ctx: ctx, o: o, run: run, sfwalk: sfwalk, stackwalk: stackwalk, tmp: tmp, dump: filepath.Join(tmp, "crash.dmp")}
	if err := b.prepare(d, dumpSyms); err != nil {
		return nil, err
	}
	costs, err := b.measure()
	if err != nil {
		return nil, err
	}
	s.Tables = []report.Table{b.table(costs)}
	s.Goals = b.goals(costs)
	return s, nil
}

const text = "One dump of a program (written by `sfwalk attach 4242 --save 4242.dmp --format minidump`), whose own file is not at hand, with a symbol file by dump_syms, which has %[1]d MB with records as\n" +
	"a browser's library has them. Both programs find the same frames. The least of %[2]d runs; the file is in the system's cache for all. *No index*: sfwalk has\n" +
	"not seen the symbol file before; that it keeps an index of it is in the time. *Index*: it has.\n" +
	"\n" +
	"The batch: `sfwalk minidump ./reports` on %[3]d dumps with one set of symbols, the program's, against a loop of minidump_stackwalk\n" +
	"on %[4]d of them; the time of one dump."

// goals are what is measured; their values are not known yet.
var goals = []report.Goal{
	{What: "one crash, large symbol file, no index: wall", Most: 0.1},
	{What: "one crash, large symbol file, no index: memory", Most: 0.1},
	{What: "one crash, large symbol file, index: wall", Most: 0.01},
	{What: "one crash, large symbol file, index: memory", Most: 0.01},
	{What: "batch: time of one dump", Most: 0.02},
}

func init() {
	for i := range goals {
		goals[i].Peer = "minidump_stackwalk"
	}
}

type bench struct {
	ctx                          context.Context
	o                            Options
	run                          *command.Runner
	sfwalk, stackwalk, tmp, dump string
}

func (b *bench) path(name string) string { return filepath.Join(b.tmp, name) }

// prepare makes the dumps and the stores.
func (b *bench) prepare(d build.Dir, dumpSyms string) error {
	program, err := d.C("minidump-program", append([]string{"-static"}, build.Walked...), "wait.c", "deep.c", "ticker.c")
	if err != nil {
		return err
	}
	p, err := process.Start(nil, program, "4", "30")
	if err != nil {
		return err
	}
	c, err := b.run.Run(b.ctx, false, b.sfwalk, "attach", strconv.Itoa(p.PID), "--save", b.dump, "--format", "minidump")
	if err = errors.Join(err, p.Stop()); err != nil {
		return err
	}
	if c.Status != 0 {
		return fmt.Errorf("sfwalk attach: status %d", c.Status)
	}
	err = errors.Join(writeStore(dumpSyms, program, b.path("large"), b.o.Size), writeStore(dumpSyms, program, b.path("small"), 0),
		os.Mkdir(b.path("batch"), 0o777), os.Mkdir(b.path("empty"), 0o777))
	for i := range b.o.Dumps {
		if err == nil {
			err = os.Link(b.dump, filepath.Join(b.path("batch"), fmt.Sprintf("%05d.dmp", i)))
		}
	}
	return err
}

// costs are what was measured.
type costs struct {
	peer, cold, warm command.Cost
	loop, batch      time.Duration // for each dump
}

func (b *bench) measure() (c costs, err error) {
	// Files are as old as they are in use: an index of a file that was just written is checked once
	// more.
	then := time.Now().Add(-time.Hour)
	err = filepath.Walk(b.path("large"), func(path string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Chtimes(path, then, then))
	})
	if err != nil {
		return c, err
	}
	ours := []string{b.sfwalk, "minidump", b.dump, "--format", "breakpad", "--symbols", b.path("large"), "--sysroot", b.path("empty")}
	for n := range b.o.Rounds {
		if err := b.run.Forget(); err != nil {
			return c, err
		}
		time.Sleep(2 * time.Second) // see above: a stamp settles
		peer, err := b.once("sh", "-c", `exec "$@" 2>/dev/null`, "sh", b.stackwalk, "-m", b.dump, b.path("large"))
		if err != nil {
			return c, err
		}
		cold, err := b.once(ours...)
		if err != nil {
			return c, err
		}
		warm, err := b.once(ours...)
		if err != nil {
			return c, err
		}
		if n == 0 {
			c.peer, c.cold, c.warm = peer, cold, warm
		}
		c.peer, c.cold, c.warm = c.peer.Least(peer), c.cold.Least(cold), c.warm.Least(warm)
		batch, err := b.once(b.sfwalk, "minidump", b.path("batch"), "--symbols", b.path("small"), "--sysroot", b.path("empty"))
		if err != nil {
			return c, err
		}
		loop, err := b.once("sh", "-c", `for f in $(ls "$1" | head -n "$2"); do "$3" -m "$1/$f" "$4" 2>/dev/null || exit; done`, "sh", b.path("batch"), fmt.Sprint(b.o.Looped), b.stackwalk, b.path("small"))
		if err != nil {
			return c, err
		}
		one, two := batch.Wall/time.Duration(b.o.Dumps), loop.Wall/time.Duration(min(b.o.Looped, b.o.Dumps))
		if n == 0 || one < c.batch {
			c.batch = one
		}
		if n == 0 || two < c.loop {
			c.loop = two
		}
	}
	return c, nil
}

// once runs a command, which must succeed.
func (b *bench) once(args ...string) (command.Cost, error) {
	c, err := b.run.Run(b.ctx, false, args...)
	if err == nil && c.Status != 0 && c.Status != 3 { // sfwalk says 3 of stacks that end early
		err = fmt.Errorf("%v: status %d", args, c.Status)
	}
	return c, err
}

func (b *bench) table(c costs) report.Table {
	t := report.Table{Head: []string{"one crash", "wall", "CPU", "peak memory"}}
	for _, row := range []struct {
		name string
		cost command.Cost
	}{{"minidump_stackwalk", c.peer}, {"sfwalk, no index", c.cold}, {"sfwalk, index", c.warm}} {
		t.Add(row.name, report.Time(row.cost.Wall).String(), report.Time(row.cost.CPU).String(), report.Memory(row.cost.Peak).String())
	}
	t.Add(fmt.Sprintf("batch: %.0f dumps a second", float64(time.Second)/float64(c.batch)), report.Time(c.batch).String()+" a dump", "", "")
	t.Add(fmt.Sprintf("loop: %.0f dumps a second", float64(time.Second)/float64(c.loop)), report.Time(c.loop).String()+" a dump", "", "")
	return t
}

func (b *bench) goals(c costs) []report.Goal {
	list := append([]report.Goal(nil), goals...)
	for i, v := range [][2]report.Value{
		{report.Time(c.cold.Wall), report.Time(c.peer.Wall)}, {report.Memory(c.cold.Peak), report.Memory(c.peer.Peak)},
		{report.Time(c.warm.Wall), report.Time(c.peer.Wall)}, {report.Memory(c.warm.Peak), report.Memory(c.peer.Peak)},
		{report.Time(c.batch), report.Time(c.loop)},
	} {
		list[i].Ours, list[i].Theirs = v[0], v[1]
	}
	return list
}
