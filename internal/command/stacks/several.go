package stacks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/processes"
	"github.com/sfwalk/sfwalk/internal/command/show"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/target/live"
)

// leftOut counts processes that were not asked for by their PIDs, and are left out.
type leftOut struct {
	others, own int
	why         error // of the first of own
}

// take reports whether a process is left out without an error of its own: one that has ended since
// it was found, or one of --all that this user must not trace.
func (l *leftOut) take(pid int, err error, which *processes.Chosen) bool {
	switch {
	case slices.Contains(which.ByPID, pid):
		return false
	case errors.Is(err, live.ErrNoProcess), errors.Is(err, live.ErrExited), errors.Is(err, live.ErrZombie):
		return true
	case !which.All, !errors.Is(err, live.ErrPermission) && !errors.Is(err, fs.ErrPermission):
		return false
	case isOthers(pid):
		l.others++
	default:
		if l.own++; l.why == nil {
			l.why = err
		}
	}
	return true
}

// warn says what was left out.
func (l *leftOut) warn(cmd *cobra.Command) {
	if l.others > 0 {
		cmdline.Warn(cmd, fmt.Sprintf("%s of other users %s left out: run as root", count.Of(l.others, "process"), count.Verb(l.others, "was", "were")))
	}
	if l.own > 0 {
		cmdline.Warn(cmd, fmt.Sprintf("%s that may not be traced %s left out, for example: %v", count.Of(l.own, "process"), count.Verb(l.own, "was", "were"), l.why))
	}
}

// isOthers reports whether a process is another user's: where its user ID is not this one's.
func isOthers(pid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, line, ok := bytes.Cut(status, []byte("\nUid:\t")) // real, effective, saved, of the file system
	fields := bytes.Fields(line)
	return err == nil && ok && len(fields) > 0 && string(fields[0]) != strconv.Itoa(os.Geteuid())
}

// attachAll prints the stacks of many processes, one after the other. One that fails does not stop
// the others; its error is said.
func attachAll(cmd *cobra.Command, pids []int, printed *show.Stacks, opts live.Options, which *processes.Chosen) error {
	if len(pids) == 0 {
		return errors.New("attach: no process to attach to: the named processes have ended, or are the kernel's own")
	}
	flags, failed, taken, early := printed.Flags, 0, 0, false
	var left leftOut
	defer func() { flags.Process = "" }()
	for _, pid := range pids {
		if cmd.Context().Err() != nil {
			return exit.ErrInterrupted
		}
		byItself := !flags.JSON && !flags.Sum.Later
		if byItself {
			flags.Process = fmt.Sprintf("Process %d\n", pid)
		}
		before := flags.Values.Selected()
		err := attach(cmd, pid, printed, opts, "", "")
		switch {
		case err == nil:
		case errors.Is(err, exit.ErrEarly):
			early = true
		case left.take(pid, err, which):
			taken++
			continue
		default:
			failed++
			printable.Fprintf(cmd.ErrOrStderr(), "sfwalk: %v\n", err)
			continue
		}
		if byItself && (!flags.Values.ByFrame() || flags.Values.Selected() > before) {
			printable.Fprintf(cmd.OutOrStdout(), "\n")
		}
	}
	left.warn(cmd)
	switch {
	case failed > 0 && !which.All || failed > 0 && failed+taken == len(pids):
		return fmt.Errorf("%d of %s could not be read", failed, count.Of(len(pids), "process"))
	case taken == len(pids):
		return errors.New("attach: no process is left to attach to")
	}
	if err := flags.Values.Verdict(); err != nil {
		return err
	}
	if early {
		return exit.ErrEarly
	}
	return nil
}
