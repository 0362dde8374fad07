package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/picture"
)

// manyFlags are the flags that have many stacks printed as one.
type manyFlags struct {
	merge, tree bool
	goroutines  bool
	format      string      // one of picture.Formats, or ""
	into        *many       // all stacks are added to it, and it is written later; nil if each target has its own
	each        *perProcess // what into is, by process; nil if all stacks are added to one
	output      string      // a file; "" for standard output, and "-" until check has seen it
}

const formatHelp = "instead of text: pprof (for go tool pprof), folded (for flamegraph.pl), speedscope, firefox (for profiler.firefox.com) or flamegraph (an SVG file for a browser)"

func (m *manyFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.merge, "merge", false, "print equal stacks once, with the threads that have them, most first")
	f.BoolVar(&m.tree, "tree", false, "print all stacks as one tree, outermost frames first, with the number of threads")
	f.BoolVar(&m.goroutines, "goroutines", false, "print the goroutines of a Go program in place of its threads, parked ones too, equal stacks once")
	f.StringVarP(&m.output, "output", "o", "", "write to this file; - for standard output (the default)")
}

// addFormat adds --format, for commands whose --format means nothing else.
func (m *manyFlags) addFormat(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.format, "format", "", formatHelp)
}

// any reports whether stacks are not printed one by one.
func (m *manyFlags) any() bool { return m.merge || m.tree || m.format != "" || m.goroutines }

// check finds mistakes in the flags; w are all of a command's.
func (m *manyFlags) check(w *walkFlags) error {
	if m.output == "-" {
		m.output = ""
	}
	if m.format != "" && !slices.Contains(picture.Formats, m.format) {
		return exit.Misuse(fmt.Errorf("--format %s: want %s", m.format, strings.Join(picture.Formats, ", ")))
	}
	var given []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"--merge", m.merge}, {"--tree", m.tree}, {"--format " + m.format, m.format != ""}} {
		if f.set {
			given = append(given, f.name)
		}
	}
	switch {
	case m.goroutines && len(w.tids) > 0:
		return exit.Misuse(errors.New("--goroutines prints goroutines in place of threads: give it without --tid"))
	case len(given) == 0 && m.goroutines:
		m.merge = true
		return m.checkValues(w, "--goroutines")
	case len(given) == 0:
		return nil
	case len(given) > 1:
		return exit.Misuse(fmt.Errorf("%s are different pictures: give one", strings.Join(given, " and ")))
	case m.format != "" && w.json:
		return exit.Misuse(fmt.Errorf("--format %s and --json are different formats: give one", m.format))
	}
	return m.checkValues(w, given[0])
}

func (m *manyFlags) checkValues(w *walkFlags, given string) error {
	if w.values.any() || w.registers || w.explain {
		return exit.Misuse(fmt.Errorf("%s: --args, --locals, --print, --registers and --explain differ from thread to thread: give them without it, with --tid for one thread", given))
	}
	return nil
}

// to returns where to write, and what ends that.
func (m *manyFlags) to(cmd *cobra.Command) (out io.Writer, end func() error, err error) {
	out, end = cmd.OutOrStdout(), func() error { return nil }
	if m.output != "" {
		file, err := os.Create(m.output)
		if err != nil {
			return nil, nil, fmt.Errorf("--output: %w", err)
		}
		if m.format != "" {
			return file, file.Close, nil
		}
		p := printable.NewWriter(file)
		return p, func() error { return errors.Join(p.Close(), file.Close()) }, nil
	}
	if m.format == "pprof" {
		out = cmdline.Unescaped(cmd) // it is no text
	}
	if file, ok := out.(*os.File); ok && m.format == "pprof" && term.IsTerminal(int(file.Fd())) {
		return nil, nil, exit.Misuse(errors.New("--format pprof is not for terminals: give -o FILE, and open that by 'go tool pprof FILE'"))
	}
	return out, end, nil
}
