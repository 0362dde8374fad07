//go:build linux

package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/child"
)

// A Runner runs commands.
type Runner struct {
	run, hide string
	Out       string // the file that a command's output is in, until the next
}

// NewRunner builds the small programs; the output of commands goes into a file of the
// folder.
func NewRunner(d build.Dir) (*Runner, error) {
	run, err := d.C("run", []string{"-O2"}, "run.c")
	if err != nil {
		return nil, err
	}
	hide, err := d.C("hide", []string{"-O2"}, "hide.c")
	return &Runner{run, hide, d.Path + "/out"}, err
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

// ErrRefused: the system does not let debug files be hidden.
var ErrRefused = errors.New("debug files cannot be hidden: no right to mount")

// refused is the status of hide.c for ErrRefused.
const refused = 125

// Run runs a command; with hide, it sees an empty /usr/lib/debug. An exit status other than 0 is no
// error.
func (r *Runner) Run(ctx context.Context, hide bool, args ...string) (Cost, error) {
	program, all := r.Hidden(hide, append([]string{r.run, r.Out}, args...))
	cmd := exec.CommandContext(ctx, program, all...)
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
