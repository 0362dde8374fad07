package report

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

// SumFlags are the flags that have stacks added up and printed as one: merged, as a tree, as a
// picture. Output is for stacks one by one, too.
type SumFlags struct {
	Merge, Tree bool
	Goroutines  bool
	Format      string // one of StackFormats, or ""
	Later       bool   // stacks are printed when all rounds, or processes, are over
	Output      string // a file; "" for standard output, and "-" until check has seen it
}

func (m *SumFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.Merge, "merge", false, "print equal stacks once, with the threads that have them, most first")
	f.BoolVar(&m.Tree, "tree", false, "print all stacks as one tree, outermost frames first, with the number of threads")
	f.BoolVar(&m.Goroutines, "goroutines", false, "print the goroutines of a Go program in place of its threads, parked ones too, equal stacks once")
	f.StringVarP(&m.Output, "output", "o", "", "write to this file; - for standard output (the default)")
}

// AddFormat adds --format, for commands whose --format means nothing else.
func (m *SumFlags) AddFormat(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.Format, "format", "", FormatHelp)
}

// Any reports whether stacks are not printed one by one.
func (m *SumFlags) Any() bool { return m.Merge || m.Tree || m.Format != "" || m.Goroutines }

// check finds mistakes in the flags; w are all of a command's.
func (m *SumFlags) check(w *Flags) error {
	if m.Output == "-" {
		m.Output = ""
	}
	if m.Format != "" && !slices.Contains(StackFormats, m.Format) {
		return exit.Misuse(fmt.Errorf("--format %s: want %s", m.Format, strings.Join(StackFormats, ", ")))
	}
	var given []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"--merge", m.Merge}, {"--tree", m.Tree}, {"--format " + m.Format, m.Format != ""}} {
		if f.set {
			given = append(given, f.name)
		}
	}
	switch {
	case m.Goroutines && len(w.TIDs) > 0:
		return exit.Misuse(errors.New("--goroutines prints goroutines in place of threads: give it without --tid"))
	case len(given) == 0 && m.Goroutines:
		m.Merge = true
		return m.checkValues(w, "--goroutines")
	case len(given) == 0:
		return nil
	case len(given) > 1:
		return exit.Misuse(fmt.Errorf("%s are different pictures: give one", strings.Join(given, " and ")))
	case m.Format != "" && w.JSON:
		return exit.Misuse(fmt.Errorf("--format %s and --json are different formats: give one", m.Format))
	}
	return m.checkValues(w, given[0])
}

func (m *SumFlags) checkValues(w *Flags, given string) error {
	if w.Values.Any() || w.Registers || w.Explain {
		return exit.Misuse(fmt.Errorf("%s: --args, --locals, --print, --registers and --explain differ from thread to thread: give them without it, with --tid for one thread", given))
	}
	return nil
}

// Open returns where the stacks are written, and what ends that.
func (m *SumFlags) Open(cmd *cobra.Command) (out io.Writer, end func() error, err error) {
	out, end = cmd.OutOrStdout(), func() error { return nil }
	if m.Output != "" {
		file, err := os.Create(m.Output)
		if err != nil {
			return nil, nil, fmt.Errorf("--output: %w", err)
		}
		if m.Format != "" {
			return file, file.Close, nil
		}
		p := printable.NewWriter(file)
		return p, func() error { return errors.Join(p.Close(), file.Close()) }, nil
	}
	if f := picture.FormatNamed(m.Format); f != nil && f.Binary {
		out = cmdline.Unescaped(cmd)
		if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			return nil, nil, NotForTerminals(f)
		}
	}
	return out, end, nil
}
