//go:build linux

package big

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/cplusplus"
	"github.com/sfwalk/sfwalk/internal/bench/growth"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// The commands that print the stacks of a process.
const (
	ours         = "sfwalk attach"
	noLines      = "sfwalk attach --no-lines"
	euStack      = "eu-stack"
	euStackLines = "eu-stack -s"
)

// stacks returns commands that print the stacks of a process, by their names.
func (b *bench) stacks(pid int, names ...string) ([]contest.Contestant, error) {
	var list []contest.Contestant
	for _, name := range names {
		one := contest.Contestant{Name: name}
		switch name {
		case ours, noLines:
			one.Args = []string{b.sfwalk, "attach", strconv.Itoa(pid)}
			if name == noLines {
				one.Args = append(one.Args, "--no-lines")
			}
			one.Fine = func(status int) bool { return status == 3 } // a stack has ended early
		default:
			eu, version, err := b.dir.EuStack()
			if err != nil {
				return nil, err
			}
			b.peers = append(b.peers, version)
			if name == euStackLines {
				eu = append(eu, "-s")
			}
			one.Args = append(eu, "-n", "0", "-p", strconv.Itoa(pid))
			one.Fine = func(status int) bool { return status == 1 } // the same
		}
		list = append(list, one)
	}
	return list, nil
}

// printStacks measures commands that print the stacks of a process or a core, and adds their rows.
func (b *bench) printStacks(ctx context.Context, work string, list []contest.Contestant) ([]command.Cost, error) {
	frames := make([]int, len(list))
	costs, err := b.Costs(ctx, list, func(i int) (err error) {
		if frames[i], err = b.Run.Frames(); err == nil && frames[i] == 0 {
			err = errors.New("it prints no frame")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, c := range costs {
		b.row(work, list[i].Name, c, fmt.Sprintf("%d frames", frames[i]))
	}
	return costs, nil
}

// attach starts a program, and has commands print its stacks. hide says that neither sees separate
// debug files, where the system lets them be hidden.
func (b *bench) attach(ctx context.Context, work string, hide bool, program []string, names ...string) ([]command.Cost, error) {
	hide = hide && b.Run.CanHide(ctx)
	path, args := b.Run.Hidden(hide, program)
	p, err := process.Start(nil, path, args...)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	list, err := b.stacks(p.PID, names...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Hide = hide
	}
	return b.printStacks(ctx, work, list)
}

var modules = subject{
	goals: []report.Goal{
		{What: "attach, 2000 modules: CPU", Peer: euStackLines, Most: 1},
		{What: "attach --no-lines, 2000 modules: CPU", Peer: euStack, Most: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		n := b.count(2000, 20)
		command, err := growth.Chain(b.dir, n)
		if err != nil {
			return err
		}
		costs, err := b.attach(ctx, fmt.Sprintf("attach, %d modules", n), true, command, ours, euStackLines, noLines, euStack)
		if err == nil {
			processor(&goals[0], costs[0], costs[1])
			processor(&goals[1], costs[2], costs[3])
		}
		return err
	},
}

// othersMayAttach returns an error that wraps [build.ErrMissing] if only a process's parent may
// attach to it. The bench's own programs allow it to others.
func othersMayAttach() error {
	const file = "/proc/sys/kernel/yama/ptrace_scope"
	scope, err := os.ReadFile(file)
	if err != nil || string(scope) == "0\n" || os.Geteuid() == 0 {
		return nil
	}
	return fmt.Errorf("%w: only a process's parent may attach to it: %s is %s", build.ErrMissing, file, bytes.TrimSpace(scope))
}

var node = subject{
	goals: []report.Goal{
		{What: "attach, node: CPU", Peer: euStackLines, Most: 0.4},
		{What: "attach, node: memory", Peer: euStackLines, Most: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		path, err := exec.LookPath("node")
		if err != nil {
			return fmt.Errorf("%w: no node", build.ErrMissing)
		}
		if err := othersMayAttach(); err != nil {
			return err
		}
		b.peers = append(b.peers, "node "+build.Version(path))
		costs, err := b.attach(ctx, "attach, node", false, []string{path, "-e", `console.log("ready"); setInterval(() => {}, 1e9)`}, ours, euStackLines)
		if err == nil {
			processor(&goals[0], costs[0], costs[1])
			memory(&goals[1], costs[0], costs[1])
		}
		return err
	},
}

var java = subject{
	goals: []report.Goal{
		{What: "attach, Java with debug files: CPU", Peer: euStack, Most: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		compiler, err := exec.LookPath("javac")
		if err != nil {
			return fmt.Errorf("%w: no javac", build.ErrMissing)
		}
		if compiler, err = filepath.EvalSymlinks(compiler); err != nil {
			return err
		}
		home := filepath.Dir(filepath.Dir(compiler))
		if err := hasDebugFile(filepath.Join(home, "lib/server/libjvm.so")); err != nil {
			return err
		}
		if err := othersMayAttach(); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, compiler, "-d", b.dir.Path, filepath.Join(b.dir.Root, "internal/bench/programs/Parked.java"))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
		b.peers = append(b.peers, build.Version(compiler))
		costs, err := b.attach(ctx, "attach, Java with debug files", false, []string{filepath.Join(home, "bin/java"), "-cp", b.dir.Path, "Parked"}, ours, euStack)
		if err == nil {
			processor(&goals[0], costs[0], costs[1])
		}
		return err
	},
}

// hasDebugFile returns an error that wraps [build.ErrMissing] if a file's separate debug file is
// not installed.
func hasDebugFile(path string) error {
	im, file, err := elf.OpenFile(path)
	if err != nil {
		return fmt.Errorf("%w: %v", build.ErrMissing, err)
	}
	defer file.Close()
	if len(im.BuildID) > 2 {
		if _, err := os.Stat("/usr/lib/debug/.build-id/" + im.BuildID[:2] + "/" + im.BuildID[2:] + ".debug"); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: the debug file of %s is not installed", build.ErrMissing, path)
}

var threads = subject{
	goals: []report.Goal{
		{What: "attach, 160 threads in 160 units: CPU", Peer: euStackLines, Most: 0.5},
		{What: "attach, 160 threads in 160 units: memory", Peer: euStackLines, Most: 0.7},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		n := b.count(manyUnits, 2)
		path, err := cplusplus.Program(ctx, b.dir.Path, n)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		work := fmt.Sprintf("attach, %d threads in %d units, %v", n, n, report.Memory(info.Size()))
		costs, err := b.attach(ctx, work, true, []string{path, strconv.Itoa(n), "5"}, ours, euStackLines)
		if err == nil {
			processor(&goals[0], costs[0], costs[1])
			memory(&goals[1], costs[0], costs[1])
		}
		return err
	},
}

const (
	goroutineTime   = 8 * time.Microsecond
	goroutineMemory = 512 // bytes
)

var goroutines = subject{
	goals: []report.Goal{
		{What: "attach --goroutines, 100000 goroutines: CPU of one", Peer: "a bound", Most: 1},
		{What: "attach --goroutines, 100000 goroutines: memory of one", Peer: "a bound", Most: 1},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		n := b.count(100_000, 100)
		program, err := b.dir.Go("goroutines", "./internal/bench/programs/goroutines")
		if err != nil {
			return err
		}
		p, err := process.Start(nil, program, strconv.Itoa(n))
		if err != nil {
			return err
		}
		defer p.Stop()
		const name = "sfwalk attach --goroutines"
		costs, err := b.printStacks(ctx, fmt.Sprintf("%d goroutines", n), []contest.Contestant{
			{Name: name, Args: []string{b.sfwalk, "attach", "--goroutines", strconv.Itoa(p.PID)}},
		})
		if err == nil {
			goals[0].Ours, goals[0].Theirs = report.Time(costs[0].CPU/time.Duration(n)), report.Time(goroutineTime)
			goals[1].Ours, goals[1].Theirs = report.Memory(costs[0].Peak/int64(n)), report.Memory(goroutineMemory)
		}
		return err
	},
}
