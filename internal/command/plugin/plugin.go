package plugin

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// New makes the verb plugin.
func New(host hosts.Plugins) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Sniffers and decorators that are programs of their own",
		Long: `A plug-in is a sniffer that is a program of its own. It unwinds code that sfwalk
cannot unwind by itself: a JIT's, or a coroutine library's. Or it is a decorator, which knows
the frames of a language: an interpreter's. 'sfwalk dlv' and every command that prints stacks
ask these plug-ins:

  programs that --plugin PATH names, and
  programs whose names begin with "sniffer-" or "decorator-", in the directories that
  SFWALK_PLUGIN_PATH lists and in sfwalk/plugins in your folder of configuration
  (~/.config). --no-plugins leaves these out; so does a --sniffers without their names.

Nothing else is run. A file plugins.lock in a directory, as sha256sum prints it, pins
the programs there; --plugin-sha256 pins the program of --plugin. A program in a
directory is left out if somebody else than you and root owns it or can write to it.

A plug-in is asked at the place in the order that it chooses, or that --sniffers gives
it. If a plug-in does not start, crashes, answers nonsense, or takes more than 250 ms for
one answer or 10 s for all (in dlv: at one stop), sfwalk warns of it and prints the
stacks with the other sniffers; they decide the exit code.

sfwalk becomes the program sfwalk-full to run plug-ins. docs/writing-a-sniffer.md and
docs/writing-a-decorator.md lead to a plug-in of your own.`,
		Example: `  sfwalk plugin list
  sfwalk plugin check ./sniffer-mine
  sfwalk plugin run ./sniffer-mine 4242
  sfwalk attach --plugin ./sniffer-mine 4242 --explain`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Misuse(errors.New("plugin: which command? list, check or run"))
		},
	}
	cmd.AddCommand(newPluginList(host), newPluginCheck(host), newPluginRun(host))
	return cmd
}

// plug returns the plug-in at path. If this program cannot run plug-ins, it becomes one that
// can.
func plug(host hosts.Plugins, path string) (hosts.Program, error) {
	if err := sniffers.CheckProgram(path); err != nil {
		return hosts.Program{}, exit.Misuse(fmt.Errorf("plug-in %w", err))
	}
	if host == nil {
		return hosts.Program{}, hosts.BecomeFull()
	}
	path, err := filepath.Abs(path)
	return hosts.Program{Path: path}, err
}

// indented writes lines with an indent before each.
func indented(w io.Writer, indent string, lines ...string) {
	for _, line := range lines {
		printable.Fprintf(w, "%s%s\n", indent, line)
	}
}
