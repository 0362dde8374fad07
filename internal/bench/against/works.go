//go:build linux

package against

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/cplusplus"
	"github.com/sfwalk/sfwalk/internal/bench/growth"
	"github.com/sfwalk/sfwalk/internal/bench/llvm"
	"github.com/sfwalk/sfwalk/internal/bench/peer"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/internal/bench/walk"
)

// both are the two builds.
type both struct {
	contest.Meter
	now, was build.Dir
	small    bool
	older    string // name of the older one
}

// A work is done by both builds.
type work struct {
	name string
	// measure returns what each measured value is now, and was. The error wraps [build.ErrMissing]
	// if the older build cannot do the work.
	measure func(context.Context, *both) ([]report.Goal, error)
}

var works = []work{
	{"start", func(ctx context.Context, b *both) ([]report.Goal, error) {
		return b.sfwalk(ctx, false, "version")
	}},
	{"attach 1 × 40", waiting(1, 40)},
	{"attach 1 × 20000", waiting(1, 20_000)},
	{"attach, 2000 modules", func(ctx context.Context, b *both) ([]report.Goal, error) {
		program, err := growth.Chain(b.now, b.count(2000, 10))
		if err != nil {
			return nil, err
		}
		return b.attach(ctx, program, "attach")
	}},
	{"10000 goroutines", func(ctx context.Context, b *both) ([]report.Goal, error) {
		program, err := b.now.Go("goroutines", "./internal/bench/programs/goroutines")
		if err != nil {
			return nil, err
		}
		return b.attach(ctx, []string{program, strconv.Itoa(b.count(10_000, 100))}, "attach", "--goroutines")
	}},
	{"names of a C++ program", names},
	{"a frame of a walk of depth 30", walks},
}

// compare measures a work, and once more if something has lost.
func (b *both) compare(ctx context.Context, w work) ([]report.Goal, error) {
	var pairs []report.Goal
	for range 2 {
		again, err := w.measure(ctx, b)
		if errors.Is(err, build.ErrMissing) {
			return []report.Goal{{What: "CPU", Missing: err.Error()}}, nil
		}
		if err != nil {
			return nil, err
		}
		lost := false
		for i := range again {
			if again[i].Most = loss; pairs != nil && pairs[i].Met() {
				again[i] = pairs[i]
			}
			lost = lost || !again[i].Met()
		}
		if pairs = again; !lost {
			break
		}
	}
	return pairs, nil
}

// count returns n, or few in tests.
func (b *both) count(n, few int) int {
	if b.small {
		return few
	}
	return n
}

// waiting is to attach to a process of threads that wait so deep.
func waiting(threads, depth int) func(context.Context, *both) ([]report.Goal, error) {
	return func(ctx context.Context, b *both) ([]report.Goal, error) {
		program, err := b.now.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
		if err != nil {
			return nil, err
		}
		return b.attach(ctx, []string{program, strconv.Itoa(threads), strconv.Itoa(depth)}, "attach")
	}
}

// attach has both print the stacks of a process. Separate debug files are hidden, where the system
// lets them be.
func (b *both) attach(ctx context.Context, program []string, args ...string) ([]report.Goal, error) {
	hide := b.Run.CanHide(ctx)
	path, rest := b.Run.Hidden(hide, program)
	p, err := process.Start(nil, path, rest...)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	return b.sfwalk(ctx, hide, append(args, strconv.Itoa(p.PID))...)
}

// sfwalk runs the command of both builds.
func (b *both) sfwalk(ctx context.Context, hide bool, args ...string) ([]report.Goal, error) {
	programs, err := b.build(build.Dir.Sfwalk)
	if err != nil {
		return nil, err
	}
	return b.contest(ctx, programs, func(program string) contest.Contestant {
		return contest.Contestant{Args: append([]string{program}, args...), Hide: hide}
	})
}

// names has package symbol of both builds name the same addresses.
func names(ctx context.Context, b *both) ([]report.Goal, error) {
	programs, err := b.build(func(d build.Dir) (string, error) { return d.Go("namer", "./internal/bench/namer") })
	if err != nil {
		return nil, err
	}
	path, err := cplusplus.Program(ctx, b.now.Path, b.count(8, 2))
	if err != nil {
		return nil, err
	}
	addresses, err := cplusplus.Profile(path, b.count(4000, 100))
	if err != nil {
		return nil, err
	}
	in, err := os.Create(filepath.Join(b.now.Path, "addresses"))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(llvm.WriteAddresses(in, addresses), in.Close()); err != nil {
		return nil, err
	}
	return b.contest(ctx, programs, func(program string) contest.Contestant {
		return contest.Contestant{Args: []string{program, path}, In: in.Name()}
	})
}

// walks has [frame.Walker] of both builds walk the same stack.
func walks(ctx context.Context, b *both) ([]report.Goal, error) {
	programs, err := b.build(func(d build.Dir) (string, error) { return d.Go("walker", "./internal/bench/walk/walker") })
	if err != nil {
		return nil, err
	}
	wait, err := b.now.C("wait", build.Walked, "wait.c", "deep.c", "ticker.c")
	if err != nil {
		return nil, err
	}
	target, err := process.Start(nil, wait, "1", "30")
	if err != nil {
		return nil, err
	}
	defer target.Stop()
	file := filepath.Join(b.now.Path, "against.capture")
	if err := walk.Take(ctx, target.PID, file); err != nil {
		return nil, err
	}
	var walkers [2]*peer.Peer
	for i, program := range programs {
		if walkers[i], err = peer.Start(program, file); err != nil {
			return nil, err
		}
		defer walkers[i].Stop()
	}
	goals := []report.Goal{{What: "warm"}, {What: "cold"}}
	for k, letter := range []byte{'w', 'c'} {
		least := [2]report.Value{{Number: math.Inf(1)}, {Number: math.Inf(1)}}
		for round := range 20 * b.Rounds { // a round takes 5 ms
			for i := range walkers {
				i = (i + round) % 2
				ns, err := walkers[i].Time(letter)
				if err != nil {
					return nil, err
				}
				least[i].Number = min(least[i].Number, ns)
			}
		}
		goals[k].Ours, goals[k].Theirs = least[0], least[1]
	}
	return goals, ctx.Err()
}

// build makes a program of both builds.
func (b *both) build(make func(build.Dir) (string, error)) (programs [2]string, err error) {
	if programs[0], err = make(b.now); err != nil {
		return programs, err
	}
	if programs[1], err = make(b.was); err != nil {
		err = fmt.Errorf("%w: the program cannot be built with what %s has", build.ErrMissing, b.older)
	}
	return programs, err
}

// contest has a program of both builds do the same.
func (b *both) contest(ctx context.Context, programs [2]string, do func(program string) contest.Contestant) ([]report.Goal, error) {
	now, was := do(programs[0]), do(programs[1])
	now.Name, was.Name = "this build", b.older
	once := contest.Meter{Run: b.Run}
	if _, err := once.Costs(ctx, []contest.Contestant{now}, nil); err != nil {
		return nil, err
	}
	if _, err := once.Costs(ctx, []contest.Contestant{was}, nil); err != nil {
		return nil, fmt.Errorf("%w: %v", build.ErrMissing, err)
	}
	costs, err := b.Costs(ctx, []contest.Contestant{now, was}, nil)
	if err != nil {
		return nil, err
	}
	return []report.Goal{
		{What: "CPU", Ours: report.Time(costs[0].CPU), Theirs: report.Time(costs[1].CPU)},
		{What: "memory", Ours: report.Memory(costs[0].Peak), Theirs: report.Memory(costs[1].Peak)},
	}, nil
}
