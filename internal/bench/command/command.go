//go:build linux

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/child"
	"github.com/sfwalk/sfwalk/internal/bench/report"
)

// A Runner runs commands.
type Runner struct {
	run, hide string
	Out       string // the file that a command's output is in, until the next
	kept      string // the folder of what commands keep for later ones
}

// NewRunner builds the small programs. The output of commands goes into a file of the folder, and
// what they keep for later ones, such as what sfwalk has inflated, into a folder there, which is
// empty at first.
func NewRunner(d build.Dir) (*Runner, error) {
	run, err := d.C("run", []string{"-O2"}, "run.c")
	if err != nil {
		return nil, err
	}
	hide, err := d.C("hide", []string{"-O2"}, "hide.c")
	if err != nil {
		return nil, err
	}
	r := &Runner{run, hide, d.Path + "/out", d.Path + "/kept"}
	return r, r.Forget()
}

// Forget removes what commands have kept for later ones.
func (r *Runner) Forget() error {
	return errors.Join(os.RemoveAll(r.kept), os.Mkdir(r.kept, 0o700))
}

var frameLine = regexp.MustCompile(`(?m)^#\d+`)

// Frames counts the frames in the output of a command that prints stacks.
func (r *Runner) Frames() (int, error) {
	out, err := os.ReadFile(r.Out)
	return len(frameLine.FindAllIndex(out, -1)), err
}

// CanHide reports whether the system lets debug files be hidden.
func (r *Runner) CanHide(ctx context.Context) bool {
	_, err := r.Run(ctx, true, "true")
	return !errors.Is(err, ErrRefused)
}

// Hidden returns the program and the arguments that run a command which, with hide, sees
// an empty /usr/lib/debug.
func (r *Runner) Hidden(hide bool, command []string) (program string, args []string) {
	if hide {
		return r.hide, command
	}
	return command[0], command[1:]
}

// Cost is the cost of a command.
type Cost struct {
	Wall, CPU time.Duration
	Peak      int64 // bytes of memory
	Status    int   // exit status; 128 plus the signal that killed it
}

// Least returns the least of each cost of two runs: other work on the machine can only make it
// more. The status is the status of the first.
func (c Cost) Least(other Cost) Cost {
	return Cost{min(c.Wall, other.Wall), min(c.CPU, other.CPU), min(c.Peak, other.Peak), c.Status}
}

// String is what a person reads at once.
func (c Cost) String() string {
	return fmt.Sprintf("%v of CPU, %v wall, %v", report.Time(c.CPU), report.Time(c.Wall), report.Memory(c.Peak))
}

// ErrRefused: the system does not let debug files be hidden.
var ErrRefused = errors.New("debug files cannot be hidden: no right to mount")

// refused is the status of hide.c for ErrRefused.
const refused = 125

// Run runs a command; with hide, it sees an empty /usr/lib/debug. An exit status other than 0 is no
// error.
func (r *Runner) Run(ctx context.Context, hide bool, args ...string) (Cost, error) {
	program, all := r.Hidden(hide, append([]string{r.run, r.Out}, args...))
	cmd := exec.CommandContext(ctx, program, all...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+r.kept)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	err := child.Start(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == refused {
		return Cost{}, ErrRefused
	}
	if err != nil {
		return Cost{}, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	var wall, cpu, peak int64
	var c Cost
	if _, err := fmt.Sscan(out.String(), &wall, &cpu, &peak, &c.Status); err != nil {
		return Cost{}, fmt.Errorf("%s: %w in %q", strings.Join(args, " "), err, &out)
	}
	c.Wall, c.CPU, c.Peak = time.Duration(wall), time.Duration(cpu)*time.Microsecond, peak<<10
	return c, nil
}
