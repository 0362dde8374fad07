package command

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/pace"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/printable"
	"github.com/sfwalk/sfwalk/internal/sectioncache"
)

// walkFlags are the flags of every command that prints stacks.
type walkFlags struct {
	sniffers.Choice
	tids        []int
	maxFrames   int
	framesGiven bool // the user has given --max-frames
	registers   bool
	explain     bool
	noLines     bool
	noCache     bool
	debug       debugFlags
	logTo       string // the file of --log
	log         *logbook
	holds       bool                // the target is held as long as the command runs
	cache       *sectioncache.Cache // of inflated debug information; nil for none
	json        bool
	color       string
	values      valueFlags
	many        manyFlags
	view        viewFlags

	said     map[string]bool // warnings that were printed; nil if there is one round
	severals bool            // there may be several processes
	taken    time.Time       // when the round began; zero if there is one

	other func() printer // makes the printer of another format than text and JSON; nil for none

	usual int  // for tests: replaces usualFrames unless 0
	once  bool // for tests: a thread that has run on is not read once more
}

func (w *walkFlags) add(cmd *cobra.Command, host hosts.Plugins) {
	f := cmd.Flags()
	f.IntSliceVar(&w.tids, "tid", nil, "only these threads, by thread ID")
	f.IntVar(&w.maxFrames, "max-frames", 0, fmt.Sprintf("at most this many physical frames a thread; 0 for all, and for any amount of searching in code without tables (without the flag: %d frames of all threads together, and %d MiB of text beside the size of the input)", usualFrames, cmdline.UsualText>>20))
	w.Choice.Add(cmd, host)
	f.BoolVar(&w.registers, "registers", false, "print each frame's registers, as that frame sees them")
	f.BoolVar(&w.explain, "explain", false, "print which sniffer unwound each frame, by which row, and why the others declined")
	f.BoolVar(&w.noLines, "no-lines", false, "print functions alone, without files, lines, inlined and tail calls: this saves the time to read large debug information")
	w.debug.add(cmd, host)
	w.debug.addTrust(cmd)
	f.BoolVar(&w.noCache, "no-cache", false, "neither use nor keep anything below the user's cache folder: inflated debug information, indexes of large symbol files")
	f.StringVar(&w.logTo, "log", "", "add to this file what sfwalk does: the files it reads, how it walks each thread, how long that takes; - for standard error")
	f.BoolVar(&w.json, "json", false, "print one JSON document (see docs/json.md)")
	w.values.add(cmd)
	w.many.add(cmd)
	w.view.add(cmd)
	f.StringVar(&w.color, "color", "auto", "colour the text: auto, always or never; auto respects NO_COLOR")
	cmdline.CompleteColor(cmd)
}

// check finds mistakes in the flags before a target is touched.
func (w *walkFlags) check() error {
	switch {
	case w.maxFrames < 0:
		return exit.Misuse(fmt.Errorf("--max-frames %d: want 0 or more", w.maxFrames))
	case w.color != "auto" && w.color != "always" && w.color != "never":
		return exit.Misuse(fmt.Errorf("--color %s: want auto, always or never", w.color))
	}
	if err := errors.Join(w.values.check(), w.debug.check()); err != nil {
		return err
	}
	w.NoIndex = w.NoIndex || w.noCache
	if err := w.many.check(w); err != nil {
		return err
	}
	if err := w.view.check(w); err != nil {
		return err
	}
	return w.Choice.Check()
}

// begin checks the flags and starts the plug-ins, before a target is touched. end ends them.
func (w *walkFlags) begin(cmd *cobra.Command) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	if w.values.any() {
		pace.Soon()
		w.values.trim()
	}
	w.framesGiven = cmd.Flags().Changed("max-frames")
	w.debug.begin(cmd)
	if !w.noCache {
		w.cache = sectioncache.New(cmd.Context())
		w.cache.ReadOnly = w.holds
	}
	if w.log, err = openLog(cmd, w.logTo); err != nil {
		return err
	}
	if err := w.Begin(cmd); err != nil {
		w.endLog(cmd)
		return err
	}
	return nil
}

// end ends the plug-ins and the log.
func (w *walkFlags) end(cmd *cobra.Command) {
	w.Choice.End()
	w.endLog(cmd)
}

func (w *walkFlags) endLog(cmd *cobra.Command) {
	if err := w.log.end(); err != nil {
		cmdline.Warn(cmd, fmt.Sprintf("--log %s: %v", w.logTo, err))
	}
}

// warn prints warnings, each once if the command has several rounds.
func (w *walkFlags) warn(cmd *cobra.Command, warnings []string) {
	for _, text := range warnings {
		if w.said[text] {
			continue
		}
		if w.said != nil {
			w.said[text] = true
		}
		cmdline.Warn(cmd, text)
	}
}

// useColor reports whether to colour the text that is written to f.
func (w *walkFlags) useColor(f any) bool {
	if w.color != "auto" {
		return w.color == "always"
	}
	if p, ok := f.(*printable.Writer); ok {
		f = p.Out()
	}
	file, ok := f.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}
