//go:build linux

package attach

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/command"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

const (
	oursGoroutines = "sfwalk attach --goroutines"
	dlvGoroutines  = "dlv attach, goroutines -t"

	manyGoroutines = 10_000
	fewGoroutines  = 100

	goroutinesPause = 20 * time.Millisecond
)

var goroutinesHead = []string{"command", "wall", "CPU", "peak memory", "longest gap (least): one thread", "another thread", "untouched"}

// MeasureGoroutines runs commands that print the stacks of all goroutines.
func MeasureGoroutines(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 21
	}
	n := manyGoroutines
	if o.Small {
		n = fewGoroutines
	}
	sfwalk, err := d.Sfwalk()
	if err != nil {
		return nil, err
	}
	program, err := d.Go("goroutines", "./internal/bench/programs/goroutines")
	if err != nil {
		return nil, err
	}
	run, err := command.NewRunner(d)
	if err != nil {
		return nil, err
	}
	list := []tool{{name: oursGoroutines, args: []string{sfwalk, "attach", "--goroutines", "PID"}}}
	missing := ""
	dlv, err := delve(d)
	if err == nil {
		list = append(list, *dlv)
	} else {
		missing = err.Error()
	}
	p := scenario{name: fmt.Sprintf("%d goroutines", n), program: program, args: []string{strconv.Itoa(n)}}
	samples, err := measure(ctx, &meter{run: run, dir: d.Path, rounds: o.Rounds}, p, list)
	if err != nil {
		return nil, err
	}
	t := report.Table{Caption: "**" + p.name + "**", Head: goroutinesHead}
	var us, them *sample
	for _, s := range samples {
		switch s.tool.name {
		case oursGoroutines:
			us = s
		case dlvGoroutines:
			them = s
		}
		row := s.row()
		t.Add(append(row[:1:1], row[2:]...)...)
	}
	pause := report.Goal{What: p.name + ": pause", Peer: "a bound", Most: 1, Ours: report.Time(us.pause()), Theirs: report.Time(goroutinesPause)}
	against := report.Goal{What: p.name + ": pause", Peer: dlvGoroutines, Most: 1, Missing: missing}
	wall := report.Goal{What: p.name + ": wall", Peer: dlvGoroutines, Most: 1, Missing: missing}
	if them != nil {
		against.Ours, against.Theirs = report.Time(us.pause()), report.Time(them.pause())
		wall.Ours, wall.Theirs = report.Time(report.Median(us.wall)), report.Time(report.Median(them.wall))
	}
	return &report.Section{
		Part: "goroutines", Title: "All goroutines of a live process", Versions: build.Compilers(),
		Commands: []string{"go run ./internal/bench -only goroutines"},
		Text: fmt.Sprintf(`Each command prints the stacks of all goroutines of a Go program, almost all of which are parked. Rounds (%d) and gaps are as above:
two threads of the program ask to sleep for 50 µs over and over. sfwalk copies all stacks at one moment, and walks them when the process
runs again; dlv is Delve's own command, of the release that go.mod names, and detaches at the end.
`, o.Rounds),
		Tables: []report.Table{t}, Goals: []report.Goal{pause, against, wall},
	}, nil
}

// delve builds Delve's command. It keeps its own files in the bench's folder.
func delve(d build.Dir) (*tool, error) {
	dlv, err := d.Go("dlv", "github.com/go-delve/delve/cmd/dlv")
	if err != nil {
		return nil, err
	}
	script := filepath.Join(d.Path, "goroutines.dlv")
	if err := os.WriteFile(script, []byte("goroutines -t\n"), 0o600); err != nil {
		return nil, err
	}
	// At the end, it asks whether to kill the process.
	const run = `printf 'exit\nn\n' | XDG_CONFIG_HOME="$3" "$0" attach "$1" --allow-non-terminal-interactive=true --init "$2"`
	return &tool{name: dlvGoroutines, args: []string{"/bin/sh", "-c", run, dlv, "PID", script, d.Path}}, nil
}
