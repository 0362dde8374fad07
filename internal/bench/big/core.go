//go:build linux

package big

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/contest"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

const (
	oursCore = "sfwalk core"
	gdbCore  = "gdb"

	coreThreads = 101
	coreGiB     = 13 // that nobody has written to
)

var sparseCore = subject{
	goals: []report.Goal{
		{What: "core of 13 GiB, with holes, 101 threads: CPU", Peer: gdbCore, Most: 0.05},
		{What: "core of 13 GiB, with holes, 101 threads: CPU", Peer: euStack, Most: 0.05},
	},
	measure: func(ctx context.Context, b *bench, goals []report.Goal) error {
		program, core, err := b.dump(ctx)
		if err != nil {
			return err
		}
		defer os.RemoveAll(filepath.Dir(core))
		list := []contest.Contestant{{Name: oursCore, Args: []string{b.sfwalk, "core", core}}}
		add := func(g *report.Goal, version string, err error, args ...string) {
			if err != nil {
				g.Missing = err.Error()
				return
			}
			b.peers, list = append(b.peers, version), append(list, contest.Contestant{Name: g.Peer, Args: args})
		}
		gdb, err := exec.LookPath("gdb")
		add(&goals[0], build.Version(gdb), err, gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", program, core, "-ex", "thread apply all bt")
		eu, version, err := b.dir.EuStack()
		add(&goals[1], version, err, append(eu, "-n", "0", "-e", program, "--core", core)...)
		costs, err := b.printStacks(ctx, fmt.Sprintf("core of %d GiB, with holes, %d threads", coreGiB, coreThreads), list)
		for i, c := range costs {
			for k := range goals {
				if goals[k].Peer == list[i].Name {
					processor(&goals[k], costs[0], c)
				}
			}
		}
		return err
	},
}

// dump has the kernel write a core into a folder of its own.
func (b *bench) dump(ctx context.Context) (program, core string, err error) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || string(pattern) != "core\n" {
		return "", "", fmt.Errorf("%w: the kernel does not write cores where the process is: core_pattern is %q", build.ErrMissing, pattern)
	}
	program, err = b.dir.C("sparse", build.Walked, "wait.c", "deep.c", "ticker.c", "sparse.c")
	if err != nil {
		return "", "", err
	}
	dir, err := os.MkdirTemp(b.dir.Path, "core")
	if err != nil {
		return "", "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	const script = `cd "$1" && ulimit -c "$(ulimit -H -c)" && SPARSE_GIB=$2 exec "$0" $3 40`
	p, err := process.Start(nil, "sh", "-c", script, program, dir, strconv.Itoa(b.count(coreGiB, 1)), strconv.Itoa(b.count(coreThreads, 2)))
	if err != nil {
		return "", "", err
	}
	syscall.Kill(p.PID, syscall.SIGABRT)
	p.Wait()
	list, err := filepath.Glob(filepath.Join(dir, "core*"))
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%w: the kernel has written no core", build.ErrMissing)
	}
	if err != nil {
		return "", "", err
	}
	return program, list[0], ctx.Err()
}
