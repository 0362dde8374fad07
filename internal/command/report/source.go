package report

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/regular"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/symbol/tables"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Source is a target, and how the command presents it.
type Source struct {
	target.Target
	Process    hosts.Process                // for plug-ins
	Root       string                       // folder below which to look for debug files first; "" for none
	values     *value.Budget                // what the values in frames may still take; nil if none are read
	Opener     elf.Opener                   // opens a file that the target names; nil for this program's rights
	About      func(*Document)              // fills in the fields about the process
	Mark       func(target.Thread, *Thread) // fills in fields of one thread; nil if there are none
	LetGo      func(target.Thread)          // is called for each thread that was printed; may be nil
	After      func(*Document)              // fills in what is known when all stacks are walked; may be nil
	Warnings   func() []string              // all warnings so far
	InputSize  int64                        // how large the target really is, bytes: its file on disk, or what a process has in memory; 0 if that is unknown
	Windows    bool                         // the process is one of Windows
	items      []target.Thread              // what is walked in place of the threads: goroutines; nil for the threads
	Goroutines *Source                      // the same target with its goroutines, once they are asked for
	asleep     *Asleep                      // what is known of the goroutines' waits; nil if one can go on, or nothing is known
	Saved      bool                         // the target is saved to a file: all that is shown of it has to be there
	OneWalker  bool                         // one walker walks all threads: others walk other targets at the same time
	Shared     *symbol.Symbolizer           // of several targets, to which another one's root and files are the same; nil if the target has its own
	// OneMoment reports whether all threads are of one moment. targets.ownThreads returns the
	// threads by the IDs that the process has for them, where they differ. Both may be nil.
	OneMoment  func() bool
	OwnThreads func() map[int]int
	// Evaluate evaluates an expression of --print in a frame of a thread, and may run functions of
	// the process. It is nil if expressions are only read.
	Evaluate func(r *value.Reader, tid int, f *value.Frame, text string) (value.Value, error)
	Retake   func(walk func()) error // reads all threads once more, at one moment; nil if the target cannot
}

func (s *Source) rootOf(*target.Module) string { return s.Root }

// OpenNamed opens a file that the target names.
func (s *Source) OpenNamed(_ *target.Module, root, path string) (*os.File, error) {
	if s.Opener == nil {
		return regular.Word{}.Open(root, path)
	}
	return s.Opener(root, path)
}

// NewSymbolizer makes the NewSymbolizer of a target.
func (s *Source) NewSymbolizer(flags *Flags) *symbol.Symbolizer {
	flags.log.target(s)
	if !flags.Holds {
		flags.log.flush() // a server may let us wait
	}
	if flags.SymbolDirs != "" {
		flags.Fetching.Fetch(s.Target)
	}
	flags.Debug.Fetch(s, flags)
	symbols := s.Shared
	if symbols == nil {
		symbols = NewSymbolizer(s.rootOf, s.OpenNamed, flags, flags.Values.Any())
	}
	s.Modules().DebugFile = symbols.DebugFile
	return symbols
}

// NewSymbolizer makes the symbolizer of targets. root returns the folder below which a module's
// files are looked for first; open opens the files that a target names; entries says that variables
// are read, too.
func NewSymbolizer(root func(*target.Module) string, open func(m *target.Module, root, path string) (*os.File, error), flags *Flags, entries bool) *symbol.Symbolizer {
	opts := symbol.Options{
		DebugDirs: flags.Debug.DirsInOrder(), ByBuildID: flags.Debug.ByBuildID,
		Root: root, SymbolsOnly: flags.NoLines, Entries: entries,
	}
	if !flags.Debug.Trust {
		opts.Open = open
	}
	if flags.cache != nil {
		opts.Inflated = flags.cache
	}
	if flags.SymbolDirs != "" {
		opts.Sources = []symbol.Source{tables.Breakpad{Dir: flags.SymbolDirs}}
	}
	opts.Sources = append(opts.Sources, tables.PE{})
	return symbol.New(opts)
}

// Show walks a target and prints it.
func Show(cmd *cobra.Command, s *Source, flags *Flags) error {
	if flags.Many.Any() {
		return showMany(cmd, s, flags)
	}
	symbols := s.NewSymbolizer(flags)
	defer symbols.Close()
	out, end, err := flags.Many.Open(cmd)
	if err != nil {
		return err
	}
	whole, warnings, err := Print(out, s, symbols, flags)
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return exit.ErrInterrupted
	}
	flags.warn(cmd, warnings)
	if err := flags.Values.verdict(); err != nil {
		return err
	}
	if !whole {
		return exit.ErrEarly
	}
	return nil
}

// mostRoom bounds the frames for which there is room before a thread's stack is walked: threads of
// one process have stacks of like depth.
const mostRoom = 128

// Collect returns the whole document of a target.
func Collect(s *Source, flags *Flags) (doc *Document, warnings []string, err error) {
	symbols := s.NewSymbolizer(flags)
	if s.Shared == nil {
		defer symbols.Close()
	}
	threads, err := s.ThreadsOf(flags)
	if err != nil {
		return nil, nil, err
	}
	doc = &Document{Arch: s.Arch().Name}
	walkers := NewWalkers(s, symbols, flags, len(threads))
	if threads, err = s.settle(walkers, threads, flags); err != nil {
		return nil, nil, err
	}
	var workers []func(int) Thread
	for _, w := range walkers {
		most := 0
		defer w.Table.Release()
		workers = append(workers, func(i int) Thread {
			frames := make([]Frame, 0, most)
			th := w.Thread(threads[i], func(f *frame.Frame) int {
				before := len(frames)
				frames = w.appendFrame(frames, before, f)
				if flags.View.outer > 0 {
					return 0
				}
				return textOf(frames[before:])
			})
			most = min(max(most, len(frames)), mostRoom)
			if outer := flags.View.outer; outer > 0 {
				frames = w.fitting(&th, frames[max(0, len(frames)-outer):])
			}
			th.Frames = frames
			return th
		})
	}
	err = InOrder(len(threads), workers, func(th Thread) error {
		doc.Threads = append(doc.Threads, th)
		return nil
	})
	s.About(doc)
	if s.After != nil {
		s.After(doc)
	}
	doc.Warnings = s.warned(symbols, flags)
	return doc, doc.Warnings, err
}

// Walk walks all stacks, so that the target reads all memory that a Walk needs.
func Walk(s *Source, flags *Flags) error {
	symbols := s.NewSymbolizer(flags)
	defer symbols.Close()
	return walkBy(s, symbols, flags)
}

// walkBy is walk with a symbolizer.
func walkBy(s *Source, symbols *symbol.Symbolizer, flags *Flags) error {
	threads, err := s.ThreadsOf(flags)
	if err != nil {
		return err
	}
	var workers []func(int) struct{}
	for _, w := range NewWalkers(s, symbols, flags, len(threads)) {
		workers = append(workers, func(i int) struct{} {
			w.Thread(threads[i], func(*frame.Frame) int { return 0 })
			return struct{}{}
		})
	}
	return InOrder(len(threads), workers, func(struct{}) error { return nil })
}

// warned returns the warnings of the target, of its files, and of the flags.
func (s *Source) warned(symbols *symbol.Symbolizer, flags *Flags) []string {
	warnings := s.Warnings()
	modules := s.Modules()
	ofTarget := slices.Sorted(slices.Values(warnings))
	var short LeftOut
	for _, m := range append(slices.Clip(modules.All()), modules.Registered().Objects...) {
		if !m.ImageUsed() {
			continue // no frame is in it
		}
		flags.log.module(m, symbols)
		_, _, err := m.Image()
		if err != nil && anyBegins(ofTarget, m.Path+": ") {
			continue // the target has warned of it
		}
		for _, w := range symbols.Warnings(m) {
			if m.Identity != nil && err != nil && errors.Is(w, err) {
				continue // that a crash report lacks a file is no surprise, and its list of modules says so
			}
			if !short.Add(m.Path, w) {
				warnings = append(warnings, w.Error())
			}
		}
	}
	warnings = append(warnings, short.Warnings(flags.Explain)...)
	if s.values.Spent() {
		warnings = append(warnings, "the values of all variables would take too long: \"...\" stands for the others. Choose some by --frame, --tid or --print, or print less of each by --print-elements")
	}
	warnings = append(warnings, flags.Debug.Failed...)
	warnings = append(warnings, flags.Warned()...)
	warnings = append(warnings, flags.View.files.warnings()...)
	warnings = FittingWarnings(warnings, MaxWarned)
	for _, text := range warnings {
		flags.log.add("warning", "text", text)
	}
	return warnings
}

// anyBegins reports whether any text of an ascending list begins so.
func anyBegins(list []string, begin string) bool {
	i, _ := slices.BinarySearch(list, begin)
	return i < len(list) && strings.HasPrefix(list[i], begin)
}

// MaxWarned bounds the text of all warnings of a target, bytes: they have its names, of which
// thousands of modules may share a long one.
const MaxWarned = 8 << 20

// FittingWarnings returns the first warnings, up to that many bytes, and says how many others there
// are.
func FittingWarnings(warnings []string, most int) []string {
	for i, text := range warnings {
		if most -= len(text); most < 0 {
			return append(warnings[:i:i], fmt.Sprintf("further warnings are left out, for their text is too long: %d", len(warnings)-i))
		}
	}
	return warnings
}
