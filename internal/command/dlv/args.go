package dlv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// BehindVerb moves flags that stand before the verb of 'sfwalk dlv' behind it: dlv takes most of
// its flags at any place, as in 'dlv --headless debug'.
func BehindVerb(root *cobra.Command, args []string) []string {
	if len(args) < 2 || args[0] != "dlv" {
		return args
	}
	dlv, _, err := root.Find(args[:1])
	if err != nil {
		return args
	}
	at, known := 1, true
	for at < len(args) && len(args[at]) > 1 && args[at][0] == '-' && args[at] != "--" {
		flag, alone := flagOfVerbs(dlv, args[at])
		known = known && flag != nil
		if at++; flag != nil && !alone {
			at++
		}
	}
	switch {
	case at == 1:
		return args
	case at < len(args):
		if verb, _, err := dlv.Find(args[at : at+1]); err != nil || verb == dlv {
			return slices.Concat(args[:1], args[at:]) // there is no such verb, which is all that must be said
		}
		return slices.Concat(args[:1], args[at:at+1], args[1:at], args[at+1:])
	case known:
		return args[:1] // it misses the verb
	}
	return args
}

// flagOfVerbs returns the flag, of any of dlv's verbs, that a word of the command line is, or nil.
// alone says that the next word is not its value.
func flagOfVerbs(dlv *cobra.Command, word string) (flag *pflag.Flag, alone bool) {
	name, long := strings.CutPrefix(word, "--")
	name, _, given := strings.Cut(name, "=")
	for _, verb := range dlv.Commands() {
		if long {
			flag = verb.Flags().Lookup(name)
		} else {
			flag, given = verb.Flags().ShorthandLookup(word[1:2]), len(word) > 2
		}
		if flag != nil {
			return flag, given || flag.NoOptDefVal != ""
		}
	}
	return nil, true
}

// addStart adds the flags of commands that start a program.
func (o *dlvFlags) addStart(cmd *cobra.Command, folder string) {
	f := cmd.Flags()
	f.StringVar(&o.Dir, "wd", "", "the folder to start the program in (default: "+folder+")")
	f.StringVar(&o.TTY, "tty", "", "the program's terminal (default: this one)")
	cmdline.TextsP(f, &o.redirects, "redirect", "r", "a file for the program's input or output: stdin:FILE, or FILE; stdout:`FILE`, stderr:FILE")
	f.BoolVar(&o.NoASLR, "disable-aslr", false, "have the kernel place the program at the same addresses each time")
}

// addContinue adds --continue.
func (o *dlvFlags) addContinue(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.Continue, "continue", false, "let the process run at once, not when a client says so; with --accept-multiclient")
}

// addIgnored adds flags of dlv's that have no effect here, as they have none with 'dlv --headless'.
// Where dlv says so, check does.
func (o *dlvFlags) addIgnored(cmd *cobra.Command) {
	f := cmd.Flags()
	for _, name := range [...]string{"init", "build-flags", "wd"} {
		if f.Lookup(name) == nil {
			f.String(name, "", "no effect")
			f.MarkHidden(name)
			o.ignored = append(o.ignored, name)
		}
	}
	for _, name := range [...]string{"accept-multiclient", "allow-non-terminal-interactive"} {
		if f.Lookup(name) == nil {
			f.Bool(name, false, "no effect")
			f.MarkHidden(name)
			o.ignored = append(o.ignored, name)
		}
	}
	f.StringVar(&o.backend, "backend", "default", "the part of Delve that holds processes: native, the only one")
	f.MarkHidden("backend")
}

// checkAsDelve refuses what dlv refuses, or has and sfwalk has not, and warns of what has no
// effect.
func (o *dlvFlags) checkAsDelve(cmd *cobra.Command) error {
	for _, name := range o.ignored {
		if f := cmd.Flags().Lookup(name); f.Changed && (o.DAP && name != "allow-non-terminal-interactive" || name == "init") {
			cmdline.Warn(cmd, "--"+name+" has no effect: "+map[bool]string{true: "the editor says what to do", false: "clients have commands of their own"}[o.DAP])
		}
	}
	switch {
	case o.backend != "default" && o.backend != "native":
		return exit.Misuse(fmt.Errorf("--backend %s: want native, or default", o.backend))
	case o.Continue && !o.Multi:
		return exit.Misuse(errors.New("--continue needs --accept-multiclient: else the process runs until the only client, which may never come, is gone"))
	case len(o.redirects) > 0 && o.TTY != "":
		return exit.Misuse(errors.New("--redirect and --tty exclude each other"))
	}
	for _, r := range o.redirects {
		at := 0
		for i, name := range [...]string{"stdin:", "stdout:", "stderr:"} {
			if path, ok := strings.CutPrefix(r, name); ok {
				at, r = i, path
				break
			}
		}
		if r == "" {
			return exit.Misuse(errors.New("--redirect: a file is missing"))
		}
		if o.Redirects[at] != "" {
			return exit.Misuse(fmt.Errorf("--redirect: %s is redirected twice", [...]string{"stdin", "stdout", "stderr"}[at]))
		}
		o.Redirects[at] = r
	}
	return nil
}
