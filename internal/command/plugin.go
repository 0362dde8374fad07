package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/printable"
)

func newPlugin(host PluginHost) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Sniffers that are programs of their own",
		Long: `plugin looks after sniffers that are programs of their own: for a JIT's code, a
coroutine library, whatever sfwalk cannot unwind by itself. Every command that
prints stacks asks them, and 'sfwalk dlv':

  those that --plugin PATH names, and
  those in the directories that SFWALK_PLUGIN_PATH lists, and in sfwalk/plugins in
  your folder of configuration (~/.config), whose names begin with "sniffer-"
  (but with --no-plugins, or where --sniffers does not name them).

Nothing else is run. A file plugins.lock in a directory, as sha256sum prints it, pins
the programs that are trusted there; --plugin-sha256 pins the one of --plugin. What
belongs to others than you and root, or can be written by them, is left out.

A plug-in is asked where it says that it wants to stand, or where --sniffers has its
name. One that does not start, crashes, answers nonsense, or takes more than 250 ms for one
answer or 10 s for all (in dlv, at one stop), costs a warning: the stacks are printed, with the sniffers that
are left, and the exit code is theirs.

Plug-ins are run by the program sfwalk-full, which sfwalk becomes for that. docs/writing-a-sniffer.md
leads to a plug-in of your own.`,
		Example: `  sfwalk plugin list
  sfwalk plugin check ./sniffer-mine
  sfwalk plugin run ./sniffer-mine 4242
  sfwalk attach --plugin ./sniffer-mine 4242 --explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return usageError{errors.New("plugin: which command? list, check or run")}
		},
	}
	cmd.AddCommand(newPluginList(host), newPluginCheck(host), newPluginRun(host))
	return cmd
}

// plug returns the program that an argument names. Where this one cannot run it, it
// becomes one that can.
func plug(host PluginHost, path string) (Program, error) {
	if err := checkProgram(path); err != nil {
		return Program{}, usageError{fmt.Errorf("plug-in %w", err)}
	}
	if host == nil {
		return Program{}, becomeFull()
	}
	path, err := filepath.Abs(path)
	return Program{Path: path}, err
}

func asker() string { return "sfwalk " + versionString() }

// architectures says for which a plug-in is.
func (a *About) architectures() []string {
	if len(a.Architectures) == 0 {
		return []string{"all"}
	}
	return a.Architectures
}

// before names the sniffer that is asked only after the plug-in.
func (a *About) before() string {
	if a.Before == "" {
		return "prologue"
	}
	return a.Before
}

// indented writes lines, each behind an indent.
func indented(w io.Writer, indent string, lines ...string) {
	for _, line := range lines {
		printable.Fprintf(w, "%s%s\n", indent, line)
	}
}
