package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/files"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/picture"
)

// SumFlags are the flags that have stacks added up and printed as one: merged, as a tree, as a
// picture. Output is for stacks one by one, too.
type SumFlags struct {
	Merge, Tree bool
	Goroutines  bool
	Tasks       bool
	Format      string // one of StackFormats, or ""
	Given       bool   // the user has said the format: the name of Output does not
	named       bool   // the name of Output has chosen Format
	Later       bool   // stacks are printed when all rounds, or processes, are over
	Output      string // a file; "" for standard output, and "-" until check has seen it

	file *files.Saving // Output; nil for standard output
}

func (m *SumFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.Merge, "merge", false, "print equal stacks once, with the threads that have them, most first")
	f.BoolVar(&m.Tree, "tree", false, "print all stacks as one tree, outermost frames first, with the number of threads")
	f.BoolVar(&m.Goroutines, "goroutines", false, "print the goroutines of a Go program in place of its threads, parked ones too, equal stacks once")
	f.BoolVar(&m.Tasks, "tasks", false, "print the tasks of languages, such as coroutines, in place of the threads, each below the task that waits for it, equal ones once")
	f.StringVarP(&m.Output, "output", "o", "", "write to this file, in the format that the end of its name tells (x.svg, x.pb.gz, x.folded, x.json), else as text; - for standard output (the default)")
}

// AddFormat adds --format, for commands whose --format means nothing else.
func (m *SumFlags) AddFormat(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.Format, "format", "", FormatHelp)
}

// Any reports whether stacks are not printed one by one.
func (m *SumFlags) Any() bool { return m.Merge || m.Tree || m.Format != "" || m.Goroutines }

// Choose finds out in which format stacks are written: in the one of --format, else in the one that
// the end of the output's name tells, else as text. A command that must know it before Begin calls
// Choose itself.
func (w *Flags) Choose() error {
	m := &w.Sum
	if m.Output == "-" {
		m.Output = ""
	}
	switch f := picture.FormatCalled(m.Format); {
	case m.Format == "":
	case strings.EqualFold(m.Format, "json"):
		w.JSON, m.Format, m.Given = true, "", true
	case strings.EqualFold(m.Format, "text"), strings.EqualFold(m.Format, "txt"):
		m.Format, m.Given = "", true
	case f == nil || f.Profiles:
		return exit.Misuse(fmt.Errorf("--format %s: want %s", m.Format, FormatsCalled(false)))
	default:
		m.Format, m.Given = f.Name, true
	}
	if m.Given || w.JSON || m.Output == "" {
		return nil
	}
	name := strings.ToLower(m.Output)
	switch f := picture.FormatOfFile(name); {
	case f == nil, f.Profiles, strings.HasSuffix(name, ".txt"):
	case strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, "."+f.Name+".json"):
		w.JSON = true
	default: // a picture has equal stacks once, and is a tree
		m.Format, m.Given, m.named, m.Merge, m.Tree = f.Name, true, true, false, false
	}
	return nil
}

// begin makes the file of -o, before the command does its work. end removes it, unless it was
// written.
func (m *SumFlags) begin() (err error) {
	if m.Output != "" {
		m.file, err = files.Create("--output", m.Output, 0o666)
	}
	return err
}

func (m *SumFlags) end() { m.file.Discard() }

// check finds mistakes in the flags; w are all of a command's.
func (m *SumFlags) check(w *Flags) error {
	if err := w.Choose(); err != nil {
		return err
	}
	var given []string
	for _, f := range []struct {
		name string
		set  bool
	}{{"--merge", m.Merge}, {"--tree", m.Tree}, {m.formatFlag(), m.Format != ""}} {
		if f.set {
			given = append(given, f.name)
		}
	}
	switch {
	case m.Goroutines && len(w.TIDs) > 0:
		return exit.Misuse(errors.New("--goroutines prints goroutines in place of threads: give it without --tid"))
	case m.Tasks && (m.Goroutines || len(given) > 0 || len(w.TIDs) > 0):
		return exit.Misuse(errors.New("--tasks prints tasks in place of threads: give it without --goroutines, --tid, --merge, --tree and --format"))
	case m.Tasks:
		return m.checkValues(w, "--tasks")
	case len(given) == 0 && m.Goroutines:
		m.Merge = true
		return m.checkValues(w, "--goroutines")
	case len(given) == 0:
		return nil
	case len(given) > 1:
		return exit.Misuse(fmt.Errorf("%s are different pictures: give one", strings.Join(given, " and ")))
	case m.Format != "" && w.JSON:
		return exit.Misuse(fmt.Errorf("%s and --json are different formats: give one", m.formatFlag()))
	}
	return m.checkValues(w, given[0])
}

func (m *SumFlags) checkValues(w *Flags, given string) error {
	if w.Values.Any() || w.Registers || w.Explain {
		return exit.Misuse(fmt.Errorf("%s: --args, --locals, --print, --registers and --explain differ from thread to thread: give them without it, with --tid for one thread", given))
	}
	return nil
}

// formatFlag returns what has chosen the format.
func (m *SumFlags) formatFlag() string {
	if m.named {
		return "-o " + m.Output + " (" + m.Format + ")"
	}
	return "--format " + m.Format
}

// Open returns where the stacks are written, and what ends that. end takes the error of writing,
// and returns it, or its own: the file has its name when all was written.
func (m *SumFlags) Open(cmd *cobra.Command) (out io.Writer, end func(error) error, err error) {
	out, end = cmd.OutOrStdout(), func(err error) error { return err }
	if m.file != nil {
		if m.Format != "" {
			return m.file.Begin(), m.file.End, nil
		}
		p := printable.NewWriter(m.file.Begin())
		return p, func(err error) error { return m.file.End(errors.Join(err, p.Close())) }, nil
	}
	if f := picture.FormatNamed(m.Format); f != nil && f.Binary {
		out = cmdline.Unescaped(cmd)
		if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			return nil, nil, NotForTerminals(f)
		}
	}
	return out, end, nil
}
