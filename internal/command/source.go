package command

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

// source is a target, and how the command presents it.
type source struct {
	target.Target
	process    hosts.Process                // for plug-ins
	root       string                       // folder below which to look for debug files first; "" for none
	values     *value.Budget                // what the values in frames may still take; nil if none are read
	named      elf.Opener                   // opens a file that the target names; nil for this program's rights
	about      func(*document)              // fills in the fields about the process
	mark       func(target.Thread, *thread) // fills in fields of one thread; nil if there are none
	letGo      func(target.Thread)          // is called for each thread that was printed; may be nil
	after      func(*document)              // fills in what is known when all stacks are walked; may be nil
	warnings   func() []string              // all warnings so far
	input      int64                        // how large the target really is, bytes: its file on disk, or what a process has in memory; 0 if that is unknown
	windows    bool                         // the process is one of Windows
	items      []target.Thread              // what is walked in place of the threads: goroutines; nil for the threads
	goroutines *source                      // the same target with its goroutines, once they are asked for
	asleep     *asleep                      // what is known of the goroutines' waits; nil if one can go on, or nothing is known
	saved      bool                         // the target is saved to a file: all that is shown of it has to be there
	alone      bool                         // one walker walks all threads: others walk other targets at the same time
	shared     *symbol.Symbolizer           // of several targets, to which another one's root and files are the same; nil if the target has its own
	// oneMoment reports whether all threads are of one moment. ownThreads returns the threads by the IDs that the process has
	// for them, where they differ. Both may be nil.
	oneMoment  func() bool
	ownThreads func() map[int]int
	retake     func(walk func()) error // reads all threads once more, at one moment; nil if the target cannot
}

func (s *source) rootOf(*target.Module) string { return s.root }

// openNamed opens a file that the target names.
func (s *source) openNamed(_ *target.Module, root, path string) (*os.File, error) {
	if s.named == nil {
		return regular.Word{}.Open(root, path)
	}
	return s.named(root, path)
}

// symbolizer makes the symbolizer of a target.
func (s *source) symbolizer(flags *walkFlags) *symbol.Symbolizer {
	flags.log.target(s)
	if !flags.holds {
		flags.log.flush() // a server may let us wait
	}
	if flags.SymbolDirs != "" {
		flags.Fetching.Fetch(s.Target)
	}
	flags.debug.fetch(s, flags)
	symbols := s.shared
	if symbols == nil {
		symbols = newSymbolizer(s.rootOf, s.openNamed, flags, flags.values.any())
	}
	s.Modules().DebugFile = symbols.DebugFile
	return symbols
}

// newSymbolizer makes the symbolizer of targets. root returns the folder below which a module's
// files are looked for first; open opens those that a target names; entries says that variables are
// read, too.
func newSymbolizer(root func(*target.Module) string, open func(m *target.Module, root, path string) (*os.File, error), flags *walkFlags, entries bool) *symbol.Symbolizer {
	opts := symbol.Options{
		DebugDirs: flags.debug.dirsInOrder(), ByBuildID: flags.debug.byBuildID,
		Root: root, SymbolsOnly: flags.noLines, Entries: entries,
	}
	if !flags.debug.trust {
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

// show walks a target and prints it.
func show(cmd *cobra.Command, s *source, flags *walkFlags) error {
	if flags.many.any() {
		return showMany(cmd, s, flags)
	}
	symbols := s.symbolizer(flags)
	defer symbols.Close()
	out, end, err := flags.many.to(cmd)
	if err != nil {
		return err
	}
	whole, warnings, err := printStacks(out, s, symbols, flags)
	if err = errors.Join(err, end()); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return exit.Interrupted
	}
	flags.warn(cmd, warnings)
	if err := flags.values.verdict(); err != nil {
		return err
	}
	if !whole {
		return exit.Early
	}
	return nil
}

// mostRoom bounds the frames for which there is room before a thread's stack is walked: threads of one process have stacks of like depth.
const mostRoom = 128

// collect returns the whole document of a target.
func collect(s *source, flags *walkFlags) (doc *document, warnings []string, err error) {
	symbols := s.symbolizer(flags)
	if s.shared == nil {
		defer symbols.Close()
	}
	threads, err := s.threads(flags)
	if err != nil {
		return nil, nil, err
	}
	doc = &document{Arch: s.Arch().Name}
	walkers := newWalkers(s, symbols, flags, len(threads))
	if threads, err = s.settle(walkers, threads, flags); err != nil {
		return nil, nil, err
	}
	var workers []func(int) thread
	for _, w := range walkers {
		most := 0
		defer w.table.Release()
		workers = append(workers, func(i int) thread {
			frames := make([]frameEntry, 0, most)
			th := w.thread(threads[i], func(f *frame.Frame) int {
				before := len(frames)
				frames = w.appendFrame(frames, before, f)
				if flags.view.outer > 0 {
					return 0
				}
				return textOf(frames[before:])
			})
			most = min(max(most, len(frames)), mostRoom)
			if outer := flags.view.outer; outer > 0 {
				frames = w.fitting(&th, frames[max(0, len(frames)-outer):])
			}
			th.Frames = frames
			return th
		})
	}
	err = inOrder(len(threads), workers, func(th thread) error {
		doc.Threads = append(doc.Threads, th)
		return nil
	})
	s.about(doc)
	if s.after != nil {
		s.after(doc)
	}
	doc.Warnings = s.warned(symbols, flags)
	return doc, doc.Warnings, err
}

// walk walks all stacks, so that the target reads all memory that a walk needs.
func walk(s *source, flags *walkFlags) error {
	symbols := s.symbolizer(flags)
	defer symbols.Close()
	return walkBy(s, symbols, flags)
}

// walkBy is walk with a symbolizer.
func walkBy(s *source, symbols *symbol.Symbolizer, flags *walkFlags) error {
	threads, err := s.threads(flags)
	if err != nil {
		return err
	}
	var workers []func(int) struct{}
	for _, w := range newWalkers(s, symbols, flags, len(threads)) {
		workers = append(workers, func(i int) struct{} {
			w.thread(threads[i], func(*frame.Frame) int { return 0 })
			return struct{}{}
		})
	}
	return inOrder(len(threads), workers, func(struct{}) error { return nil })
}

// warned returns the warnings of the target, of its files, and of the flags.
func (s *source) warned(symbols *symbol.Symbolizer, flags *walkFlags) []string {
	warnings := s.warnings()
	modules := s.Modules()
	ofTarget := slices.Sorted(slices.Values(warnings))
	var short leftOut
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
			if !short.add(m.Path, w) {
				warnings = append(warnings, w.Error())
			}
		}
	}
	warnings = append(warnings, short.warnings(flags.explain)...)
	if s.values.Spent() {
		warnings = append(warnings, "the values of all variables would take too long: \"...\" stands for the others. Choose some by --frame, --tid or --print, or print less of each by --print-elements")
	}
	warnings = append(warnings, flags.debug.failed...)
	warnings = append(warnings, flags.Warned()...)
	warnings = append(warnings, flags.view.files.warnings()...)
	warnings = fitting(warnings, maxWarned)
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

// maxWarned bounds the text of all warnings of a target, bytes: they have its names, of which
// thousands of modules may share a long one.
const maxWarned = 8 << 20

// fitting returns the first warnings, up to that many bytes, and says how many others there are.
func fitting(warnings []string, most int) []string {
	for i, text := range warnings {
		if most -= len(text); most < 0 {
			return append(warnings[:i:i], fmt.Sprintf("further warnings are left out, for their text is too long: %d", len(warnings)-i))
		}
	}
	return warnings
}
