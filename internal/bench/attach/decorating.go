//go:build linux

package attach

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/decorators"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
)

// added is what frames of languages add to the walk of all stacks of a process. Times are of a
// processor, and each is the median of some rounds, but for held.
type added struct {
	find, walk, decorate time.Duration
	held                 time.Duration // the longest time that the attach held a thread; the least of all rounds
	bytes                int64         // allocated by find and decorate together
	frames               int           // of languages
}

func (a *added) table(name, language string) report.Table {
	t := report.Table{Caption: "**" + name + ", within sfwalk**", Head: []string{"walking all stacks", "finding the run time", "decorating all stacks", "allocated for that", "frames of " + language}}
	t.Add(report.Time(a.walk).String(), report.Time(a.find).String(), report.Time(a.decorate).String(), report.Memory(a.bytes).String(), fmt.Sprint(a.frames))
	return t
}

// decorating measures the decorators on a process. Each round opens the process anew.
func (m *meter) decorating(ctx context.Context, pid int) (*added, error) {
	var find, walk, decorate []time.Duration
	var bytes []int64
	var all added
	for round := range m.rounds {
		a, err := decorateOnce(ctx, pid)
		if err != nil {
			return nil, err
		}
		find, walk, decorate, bytes = append(find, a.find), append(walk, a.walk), append(decorate, a.decorate), append(bytes, a.bytes)
		if all.frames = a.frames; round == 0 || a.held < all.held {
			all.held = a.held
		}
	}
	all.find, all.walk, all.decorate, all.bytes = report.Median(find), report.Median(walk), report.Median(decorate), report.Median(bytes)
	return &all, nil
}

// allocated returns how many bytes this process has allocated so far.
func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// processor returns the processor time that this process has taken so far.
func processor() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u) // fails for what is no such number alone
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func decorateOnce(ctx context.Context, pid int) (*added, error) {
	t, err := live.Attach(ctx, pid, live.Options{})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	threads, err := t.Threads()
	if err != nil {
		return nil, err
	}
	a, table := &added{held: t.Pause}, sniffer.Table(t.Arch())
	var stacks []*language.Stack
	begin := processor()
	for _, th := range threads {
		stack, err := frame.New(t, th, table)
		if err != nil {
			return nil, err
		}
		s := &language.Stack{Arch: t.Arch(), Thread: th, Memory: target.MemoryOf(t, th)}
		for f, err := range stack.All() {
			if err != nil {
				break
			}
			s.Frames, s.Whole = append(s.Frames, f), f.StopReason().Whole()
		}
		stacks = append(stacks, s)
	}
	a.walk = processor() - begin
	before := allocated()
	begin = processor()
	runtimes, err := language.Find(&language.Process{Arch: t.Arch(), Memory: t.Memory(), Modules: t.Modules()}, decorators.Usual())
	if err != nil {
		return nil, err
	}
	a.find = processor() - begin
	begin = processor()
	for _, s := range stacks {
		d := language.Decorate(s, runtimes)
		if d == nil {
			continue
		}
		if len(d.Warnings) > 0 {
			return nil, fmt.Errorf("decorated: %s", d.Warnings[0])
		}
		for _, place := range d.At {
			a.frames += len(place.Frames)
		}
	}
	a.decorate = processor() - begin
	a.bytes = allocated() - before
	return a, nil
}

// held returns the longest time that sfwalk attach holds a thread, the least of all rounds.
func (m *meter) held(ctx context.Context, sfwalk string, pid int) (time.Duration, error) {
	t := tool{args: []string{"/bin/sh", "-c", `exec "$0" attach --json "$1" 2>/dev/null`, sfwalk, "PID"}}
	var list []time.Duration
	for range m.rounds {
		c, err := m.once(ctx, t, pid)
		if err != nil {
			return 0, err
		}
		if c.Status != 0 {
			return 0, fmt.Errorf("sfwalk attach --json: exit status %d", c.Status)
		}
		out, err := os.ReadFile(m.run.Out)
		if err != nil {
			return 0, err
		}
		var said struct {
			Pause *int64 `json:"pause_us"`
		}
		if err := json.Unmarshal(out, &said); err != nil || said.Pause == nil {
			return 0, fmt.Errorf("sfwalk attach --json says of no pause: %w", err)
		}
		list = append(list, time.Duration(*said.Pause)*time.Microsecond)
	}
	return slices.Min(list), nil
}
