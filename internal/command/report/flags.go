package report

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/debugfiles"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hints"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/values"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/sectioncache"
	"github.com/sfwalk/sfwalk/language"
)

// Flags are the flags of every command that prints stacks.
type Flags struct {
	sniffers.Choice
	TIDs        []int
	MaxFrames   int
	FramesGiven bool // the user has given --max-frames
	Registers   bool
	Explain     bool
	NoLines     bool
	NoCache     bool
	Debug       debugfiles.Flags
	logTo       string // the file of --log
	log         *logbook
	Holds       bool                // the target is held as long as the command runs
	cache       *sectioncache.Cache // of inflated debug information; nil for none
	JSON        bool
	Color       string
	Values      values.Flags
	Sum         SumFlags
	View        viewFlags

	Said             map[string]bool // warnings that were printed; nil if there is one round
	hints            *hints.Together // of all processes and rounds; End prints them
	Process          string          // the heading of the process in texts: a line, or "" for none
	SeveralProcesses bool            // there may be several processes
	Taken            time.Time       // when the round began; zero if there is one

	// Kept keeps what languages say of each stack, for a snapshot; nil if none is made.
	Kept *KeptLanguages

	Decorators []language.Decorator // for tests: replaces the usual ones unless nil

	UsualFrames int  // for tests: replaces usualFrames unless 0
	Once        bool // for tests: a thread that has run on is not read once more
}

// Add adds the flags to a command.
func (w *Flags) Add(cmd *cobra.Command, host hosts.Plugins) {
	f := cmd.Flags()
	f.IntSliceVar(&w.TIDs, "tid", nil, "only these threads, by thread ID")
	f.IntVarP(&w.MaxFrames, "max-frames", "n", 0, fmt.Sprintf("at most this many physical frames a thread, frames of languages counted; 0 for all, and for any amount of searching in code without tables (without the flag: %d frames of all threads together, and %d MiB of text beside the size of the input)", usualFrames, cmdline.UsualText>>20))
	w.Choice.Add(cmd, host)
	f.BoolVar(&w.Registers, "registers", false, "print each frame's registers, as that frame sees them")
	f.BoolVar(&w.Explain, "explain", false, "print which sniffer unwound each frame, by which row, and why the others declined")
	f.BoolVar(&w.NoLines, "no-lines", false, "print functions alone, without files, lines, inlined and tail calls: this saves the time to read large debug information")
	w.Debug.Add(cmd, host)
	w.Debug.AddTrust(cmd)
	f.BoolVar(&w.NoCache, "no-cache", false, "neither use nor keep anything below the user's cache folder: inflated debug information, indexes of large symbol files")
	f.StringVar(&w.logTo, "log", "", "add to this file what sfwalk does: the files it reads, how it walks each thread, how long that takes; - for standard error")
	f.BoolVar(&w.JSON, "json", false, "print one JSON document (see docs/json.md)")
	w.Values.Add(cmd)
	w.Sum.add(cmd)
	w.View.add(cmd)
	f.StringVar(&w.Color, "color", "auto", "colour the text: auto, always or never; auto respects NO_COLOR")
	cmdline.CompleteColor(cmd)
}

// check finds mistakes in the flags before a target is touched.
func (w *Flags) check() error {
	switch {
	case w.MaxFrames < 0:
		return exit.Misuse(fmt.Errorf("--max-frames %d: want 0 or more", w.MaxFrames))
	case w.Color != "auto" && w.Color != "always" && w.Color != "never":
		return exit.Misuse(fmt.Errorf("--color %s: want auto, always or never", w.Color))
	}
	if err := errors.Join(w.Values.Check(), w.Debug.Check()); err != nil {
		return err
	}
	w.NoIndex = w.NoIndex || w.NoCache
	w.hints = new(hints.Together)
	if err := w.Sum.check(w); err != nil {
		return err
	}
	if err := w.View.check(w); err != nil {
		return err
	}
	return w.Choice.Check()
}

// Begin checks the flags and starts the plug-ins, before a target is touched. end ends them.
func (w *Flags) Begin(cmd *cobra.Command) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	if w.Values.Any() {
		pace.Soon()
		w.Values.Trim()
	}
	w.FramesGiven = cmd.Flags().Changed("max-frames")
	w.Debug.Begin(cmd)
	if !w.NoCache {
		w.cache = sectioncache.New(cmd.Context())
		w.cache.ReadOnly = w.Holds
	}
	if w.log, err = openLog(cmd, w.logTo); err != nil {
		return err
	}
	if err := w.Choice.Begin(cmd); err != nil {
		w.endLog(cmd)
		return err
	}
	if err := w.Sum.begin(); err != nil {
		w.End(cmd)
		return err
	}
	return nil
}

// End prints the hints, and ends the plug-ins and the log.
func (w *Flags) End(cmd *cobra.Command) {
	if w.hints != nil {
		for _, l := range w.hints.Lines() {
			cmdline.Hint(cmd, l.String())
		}
	}
	w.Choice.End()
	w.Sum.end()
	w.endLog(cmd)
}

func (w *Flags) endLog(cmd *cobra.Command) {
	if err := w.log.end(); err != nil {
		cmdline.Warn(cmd, fmt.Sprintf("--log %s: %v", w.logTo, err))
	}
}

// Warn prints warnings, each once if the command has several rounds.
func (w *Flags) Warn(cmd *cobra.Command, warnings []string) {
	for _, text := range warnings {
		if w.Said[text] {
			continue
		}
		if w.Said != nil {
			w.Said[text] = true
		}
		cmdline.Warn(cmd, text)
	}
}

// UseColor reports whether to colour the text that is written to f.
func (w *Flags) UseColor(f any) bool {
	if w.Color != "auto" {
		return w.Color == "always"
	}
	return isTerminal(f) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// isTerminal reports whether text that is written to f is shown on a terminal.
func isTerminal(f any) bool {
	if p, ok := f.(*printable.Writer); ok {
		f = p.Out()
	}
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
