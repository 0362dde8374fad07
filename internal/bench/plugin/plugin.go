//go:build linux

package plugin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// Options of Measure.
type Options struct {
	Rounds int // 0 for 21
}

// These are the goals.
const (
	frameGoal  = 5 * time.Microsecond  // a frame of the plug-in's, in a deep stack
	attachGoal = 50 * time.Millisecond // more for an attach with a plug-in
)

// programs are the programs that are measured.
type programs struct {
	jit    string            // the process
	plugin map[string]string // the plug-in, by its way to answer
	sfwalk string
}

// The ways in which the plug-in answers.
const (
	plain = "plain" // a row, for each function that it is asked about
	ahead = "ahead" // the same, and up to 63 rows of functions that it was not asked about yet
	once  = "once"  // a row for one frame alone
	read  = "read"  // a row, after it has read 64 bytes
)

// newPrograms builds them.
func newPrograms(d build.Dir) (p programs, err error) {
	if p.jit, err = d.C("jit", build.Walked, "jit.c"); err != nil {
		return p, err
	}
	if p.sfwalk, err = d.Sfwalk(); err != nil {
		return p, err
	}
	if err := goBuild(d, "sfwalk-full", "./cmd/sfwalk-full"); err != nil { // what sfwalk becomes
		return p, err
	}
	if err := goBuild(d, "sniffer-jit", "./internal/bench/plugin/sniffer-jit"); err != nil {
		return p, err
	}
	p.plugin = map[string]string{}
	for _, how := range []string{plain, ahead, once, read} {
		p.plugin[how] = filepath.Join(d.Path, "sniffer-jit-"+how)
		os.Remove(p.plugin[how])
		if err := os.Link(filepath.Join(d.Path, "sniffer-jit"), p.plugin[how]); err != nil {
			return p, err
		}
	}
	return p, nil
}

func goBuild(d build.Dir, name, pkg string) error {
	cmd := exec.Command("go", "build", "-o", filepath.Join(d.Path, name), pkg)
	cmd.Dir, cmd.Env = d.Root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// run starts the process, whose stack has depth frames of machine code, of that many functions,
// alternating with as many frames of C.
func (p *programs) run(depth, functions int) (*process.Process, error) {
	return process.Start(nil, p.jit, strconv.Itoa(depth), strconv.Itoa(functions))
}

// Measure measures every part.
func Measure(ctx context.Context, d build.Dir, o Options) (*report.Section, error) {
	if o.Rounds == 0 {
		o.Rounds = 21
	}
	p, err := newPrograms(d)
	if err != nil {
		return nil, err
	}
	s := &report.Section{
		Part: "plugin", Title: "Third-party sniffers",
		Commands: []string{"go run ./internal/bench -only plugin", "go test -bench . ./sniffer/external"},
		Versions: append(build.Compilers(), versions()...),
		Text:     fmt.Sprintf(text, o.Rounds),
		After:    after,
	}
	// go-plugin's own client gives a plug-in this program's standard input, by whose end the
	// plug-in would learn that the host is gone.
	input, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func(before *os.File) {
		os.Stdin = before
		input.Close()
		hold.Close()
	}(os.Stdin)
	os.Stdin = input
	for _, part := range []func(context.Context, *programs, build.Dir, Options, *report.Section) error{starts, questions, stacks, attaches} {
		if err := part(ctx, &p, d, o, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// cell shows the median, and the least in brackets.
func cell(samples []time.Duration) string {
	return fmt.Sprintf("%v (%v)", report.Time(report.Median(samples)), report.Time(slices.Min(samples)))
}

const text = `A plug-in is a process that is asked over gRPC (hashicorp/go-plugin), with a
certificate on each side, made at each start. The process that it is asked about runs
internal/bench/programs/jit.c: functions of C and functions of machine code that no file has call
each other in turn. The plug-in (internal/bench/plugin/sniffer-jit, in Go) knows that code, and
nobody else here does. Medians of %d rounds, and in brackets the least.`

const after = `A question costs two switches between processes; where the processors have nothing else to
do, most of that is the time until they wake up. So a plug-in is asked for functions, not
for frames, and may tell of others before anybody asks (Answer.rows). What a session's
beginning takes in the first walk (the plug-in looks up two names, and reads a table) all
frames share. With an attach, the plug-in starts while the process is read.`
