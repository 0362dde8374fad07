//go:build linux

package attach

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// A comparison measures commands that do something with a live process beside printing its stacks, against gdb.
type comparison struct {
	part, title string
	text        string // before the tables; has a %d for the number of rounds
	ours        []tool
	gdb         tool // its first argument is gdb
	head        []string
	row         func(s *sample) []string
	goals       func(p scenario, samples []*sample, missing string) []report.Goal
	debugFiles  bool // those of libraries are not hidden
	writes      bool // gdb must write registers
}

// gdbCommand returns the arguments with which gdb runs a command in a process.
func gdbCommand(text string) []string {
	return []string{"gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", "PID", "-ex", text}
}

// cannotWrite says why gdb cannot write registers; "" if it can. Before release 14, it cannot where the processor
// has AMX.
func cannotWrite(ctx context.Context, gdb string) string {
	program, err := exec.LookPath("true")
	if err != nil {
		return ""
	}
	const other = "0x5a0ff1ce" // gdb does not write the value that a register has
	said, _ := exec.CommandContext(ctx, gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "starti",
		"-ex", "set var $"+vector+" = "+other, "-ex", "kill", program).CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "Couldn't write") {
			return "gdb calls no functions here: " + strings.TrimSpace(line)
		}
	}
	return ""
}

// vector is a vector register of this machine's processor, by gdb's name.
var vector = map[string]string{"amd64": "xmm1.v4_int32[0]", "arm64": "v1.s.u[0]", "s390x": "f1"}[runtime.GOARCH]

// compared are the processes that comparisons look at.
var compared = map[string]bool{"1 × 40": true, "200 × 40": true}

func (c *comparison) measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	list := c.ours
	versions, missing := build.Compilers(), "gdb is not installed"
	if gdb, err := exec.LookPath("gdb"); err == nil {
		if missing = ""; c.writes {
			missing = cannotWrite(ctx, gdb)
		}
		if missing == "" {
			list = append(list, c.gdb)
			versions = append([]string{build.Version(gdb)}, versions...)
		}
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
