package cmdline

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// Files adds the flags that say where a target's files are. Only a target that is not a process
// of this machine needs them.
func Files(cmd *cobra.Command, exe, sysroot *string) {
	cmd.Flags().StringVarP(exe, "exe", "e", "", "the program's file, if it is not at its path")
	cmd.Flags().StringVar(sysroot, "sysroot", "", "the folder below which the target's files are; links do not lead out of it, as after chroot (default: this machine's root)")
}

// ProcessID parses a PID. A number too large for a PID is a process that does not exist, not a
// mistake in the command line.
func ProcessID(text string) (int, error) {
	pid, err := strconv.ParseInt(text, 10, 32) // the kernel's pid_t
	switch {
	case err == nil && pid > 0:
		return int(pid), nil
	case text == "": // of a variable without a value, as in "$PID"
		return 0, exit.Misuse(errors.New(`"": want the number of a process`))
	case errors.Is(err, strconv.ErrRange) && text[0] != '-':
		return 0, fmt.Errorf("%s: no such process", text)
	}
	return 0, exit.Misuse(fmt.Errorf("%s: no such process: want the number of one", text))
}

// Unescaped returns standard output for what must be written as it is.
func Unescaped(cmd *cobra.Command) io.Writer {
	out := cmd.OutOrStdout()
	if p, ok := out.(*printable.Writer); ok {
		return p.Out()
	}
	return out
}

// Warn writes a warning to standard error.
func Warn(cmd *cobra.Command, text string) {
	printable.Fprintf(cmd.ErrOrStderr(), "sfwalk: warning: %s\n", text)
}

// Hint writes to standard error what helps.
func Hint(cmd *cobra.Command, text string) {
	printable.Fprintf(cmd.ErrOrStderr(), "sfwalk: hint: %s\n", text)
}
