package commandtest

import (
	"bytes"
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// New makes sfwalk's commands for a command line; nil is one without arguments. Package
// whole sets it: it imports all verbs, which this room must not do for their tests to import it.
var New func(args []string) *cobra.Command

// Run runs sfwalk with arguments in this process, and returns what it prints, and its error.
func Run(args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	root := New(args)
	root.SetOut(&out)
	root.SetErr(&errOut)
	err = root.ExecuteContext(context.Background())
	return out.String(), errOut.String(), err
}

// WithoutHints returns what was written to standard error without the hints: whether there are some
// depends on the symbols that a machine has.
func WithoutHints(stderr string) string {
	var kept strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "sfwalk: hint: ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// Execute runs one command without the root command.
func Execute(cmd *cobra.Command, args ...string) (stdout, stderr string, err error) {
	var out, errOut bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errOut)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(context.Background())
	return out.String(), errOut.String(), err
}
