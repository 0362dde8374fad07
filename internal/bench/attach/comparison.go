//go:build linux

package attach

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// A comparison measures commands that do something with a live process beside printing its stacks,
// against gdb.
type comparison struct {
	part, title string
	text        string // before the tables; has a %d for the number of rounds
	ours        []tool
	gdb         tool // its first argument is gdb
	head        []string
	row         func(s *sample) []string
	goals       func(p scenario, samples []*sample, missing string) []report.Goal
	debugFiles  bool // the debug files of libraries are not hidden
	calls       bool // gdb has the process call getpid
}

// gdbCommand returns the arguments with which gdb runs a command in a process.
func gdbCommand(text string) []string {
	return []string{"gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", "PID", "-ex", text}
}

// cannotCall says why gdb, with its arguments, has no process call getpid; "" if it has. Before
// release 14, it cannot where the processor has AMX: it fails, or waits for ever.
func cannotCall(ctx context.Context, gdb tool, s scenario) (why string, err error) {
	p, err := process.Start(nil, s.program, s.args...)
	if err != nil {
		return "", err
	}
	defer p.Stop()
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	args := gdb.command(p.PID)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	if err == nil && strings.Contains(string(said), fmt.Sprintf("= %d\n", p.PID)) {
		return "", nil
	}
	return "gdb calls no functions here: " + whyNot(string(said), err), nil
}

// whyNot returns the reason in what gdb said: the line about registers or, without one, how gdb
// ended, or the last line.
func whyNot(said string, err error) (why string) {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.Contains(line, "Couldn't write") || strings.Contains(line, "store_inferior_registers") {
			return line
		} else if line != "" {
			why = line
		}
	}
	if err != nil {
		why = err.Error()
	}
	return why
}

// compared are the processes that comparisons look at.
var compared = map[string]bool{"1 × 40": true, "200 × 40": true}

func (c *comparison) measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	processes, err := scenarios(d)
	if err != nil {
		return nil, err
	}
	list := c.ours
	versions, missing := build.Compilers(), "gdb is not installed"
	if gdb, err := exec.LookPath("gdb"); err == nil {
		if missing = ""; c.calls {
			if missing, err = cannotCall(ctx, c.gdb, processes[0]); err != nil {
				return nil, err
			}
		}
		if missing == "" {
			list = append(list, c.gdb)
			versions = append([]string{build.Version(gdb)}, versions...)
		}
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: c.part, Title: c.title, Versions: versions,
		Commands: []string{"go run ./internal/bench -only " + c.part},
		Text:     fmt.Sprintf(c.text, o.rounds()),
	}
	for _, p := range processes {
		if !compared[p.name] || o.Small && len(s.Tables) > 0 {
			continue
		}
		samples, err := measure(ctx, &meter{run: run, dir: d.Path, rounds: o.rounds(), hide: !c.debugFiles && run.CanHide(ctx)}, p, list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		t := report.Table{Caption: "**" + p.title() + "**", Head: c.head}
		for _, one := range samples {
			t.Add(c.row(one)...)
		}
		s.Tables = append(s.Tables, t)
		s.Goals = append(s.Goals, c.goals(p, samples, missing)...)
	}
	return s, nil
}
