package exit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Usage is a mistake in the command line.
type Usage struct{ error }

// Unwrap returns what is wrong.
func (e Usage) Unwrap() error { return e.error }

// Hints say how the command is used that the user has called, and where its help is.
func Hints(cmd *cobra.Command) (list []string) {
	if !cmd.HasSubCommands() {
		list = append(list, "Usage: "+cmd.UseLine())
	}
	return append(list, "Try '"+cmd.CommandPath()+" --help'.")
}

// NameArguments makes a wrong number of arguments a usage error which names them, for all commands.
func NameArguments(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			var usage Usage
			if err == nil || errors.As(err, &usage) {
				return err
			}
			if f := cmd.Flags().Lookup("pid"); f != nil && f.Changed && strings.HasPrefix(strings.Join(argumentNames(cmd), " "), "PID") { // it stands for the first arguments
				args = append(strings.Split(f.Value.String(), ","), args...)
			}
			text := wrongArgs(cmd, args, err)
			if cmd.HasParent() {
				text = strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ") + ": " + text
			}
			return Misuse(errors.New(text))
		}
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Misuse(withSuggestion(cmd, err)) })
	for _, sub := range cmd.Commands() {
		NameArguments(sub)
	}
}

// wrongArgs says what is wrong with the arguments of a command, by the names that its usage line
// has for them.
func wrongArgs(cmd *cobra.Command, args []string, err error) string {
	names := argumentNames(cmd)
	least := 0
	for least < len(names) && !strings.HasPrefix(names[least], "[") {
		least++
	}
	switch {
	case cmd.HasSubCommands() && len(args) > 0:
		return UnknownCommand(cmd, args[0])
	case len(args) < least:
		return strings.TrimSuffix(names[len(args)], "...") + " is missing"
	case len(names) == 0:
		return fmt.Sprintf("it takes no arguments, and %q is one", args[0])
	case len(args) > len(names) && cmd.Flags().Lookup("exe") != nil: // gdb and eu-stack take the program as an argument
		return fmt.Sprintf("%q is one argument too many: --exe names the program, if it is not at its path", args[len(names)])
	case len(args) > len(names):
		return fmt.Sprintf("%q is one argument too many", args[len(names)])
	}
	return err.Error()
}

// argumentNames returns the names of a command's arguments in its usage line: "PID", "[FILE]",
// "HOST:PORT | unix:PATH".
func argumentNames(cmd *cobra.Command) (names []string) {
	alternative := false
	for _, word := range strings.Fields(cmd.Use)[1:] {
		switch {
		case strings.HasPrefix(word, "-"), strings.HasPrefix(word, "[-"):
			return names // flags follow
		case word == "|":
			alternative = true
			continue
		case alternative:
			names[len(names)-1] += " or " + word
		default:
			names = append(names, word)
		}
		alternative = false
	}
	return names
}

// UnknownCommand says that there is no such command below cmd, and which one may be meant.
func UnknownCommand(cmd *cobra.Command, name string) string {
	text := fmt.Sprintf("there is no command %q", name)
	cmd.SuggestionsMinimumDistance = 2
	if list := cmd.SuggestionsFor(name); len(list) > 0 && name != "" { // each name begins with nothing
		text += ": do you mean " + strings.Join(list, " or ") + "?"
	}
	return text
}

// withSuggestion adds the flag that may be meant to an error about a flag that there is not.
func withSuggestion(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return err
	}
	// gdb has long flags behind one dash: "-batch".
	for _, name := range []string{missing.GetSpecifiedShortnames(), missing.GetSpecifiedName()} {
		if is := foreign(cmd, name); is != "" {
			return fmt.Errorf("%w: %s", err, is)
		}
	}
	if len(missing.GetSpecifiedName()) < 2 {
		return err
	}
	// Cobra suggests the commands that are alike; here, each flag is one.
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	if list := flags.SuggestionsFor(missing.GetSpecifiedName()); len(list) > 0 {
		return fmt.Errorf("%w: do you mean --%s?", err, strings.Join(list, " or --"))
	}
	return err
}

// Misuse makes err a mistake in the command line.
func Misuse(err error) error { return Usage{err} }
