package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// source is a target, and what a document says about it beside its stacks.
type source struct {
	target.Target
	process  Process                      // for plug-ins
	root     string                       // folder below which its debug files are looked for first; "" for none
	about    func(*document)              // fills in what is known of the whole
	mark     func(target.Thread, *thread) // adds what is known of one thread; nil if there is nothing
	letGo    func(target.Thread)          // is told of each thread that was printed; nil if nobody cares
	warnings func() []string              // what the user should know by now
	retake   func(walk func()) error      // takes a picture of one moment anew; nil where there is none to take
}

// symbolizer makes the symbolizer of a target.
func (s *source) symbolizer(flags *walkFlags) *symbol.Symbolizer {
	symbols := symbol.New(symbol.Options{Root: func(*target.Module) string { return s.root }, SymbolsOnly: flags.noLines})
	s.Modules().Separate = symbols.DebugFile
	return symbols
}

// show walks a target and prints it.
func show(cmd *cobra.Command, s *source, flags *walkFlags) error {
	symbols := s.symbolizer(flags)
	defer symbols.Close()
	whole, err := printStacks(cmd.OutOrStdout(), s, symbols, flags)
	if err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return errInterrupted
	}
	for _, w := range s.warned(symbols, flags) {
		warn(cmd, w)
	}
	if !whole {
		return errEarly
	}
	return nil
}

// collect makes the document of a target.
func collect(s *source, flags *walkFlags) (doc *document, warnings []string, err error) {
	symbols := s.symbolizer(flags)
	defer symbols.Close()
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
		workers = append(workers, func(i int) thread {
			frames := []frameEntry{}
			th := w.thread(threads[i], func(f *frame.Frame) int {
				frames = w.appendFrame(frames, len(frames), f)
				return 0
			})
			th.Frames = frames
			return th
		})
	}
	err = inOrder(len(threads), workers, func(th thread) error {
		doc.Threads = append(doc.Threads, th)
		return nil
	})
	s.about(doc)
	return doc, s.warned(symbols, flags), err
}

// walk walks all stacks, for what walking reads of the target.
func walk(s *source, flags *walkFlags) error {
	symbols := s.symbolizer(flags)
	defer symbols.Close()
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

// warned returns what the user should know of what was walked.
func (s *source) warned(symbols *symbol.Symbolizer, flags *walkFlags) []string {
	warnings := s.warnings()
	modules := s.Modules()
	var short leftOut
	for _, m := range append(slices.Clip(modules.All()), modules.Registered().Objects...) {
		if !m.Opened() {
			continue // no frame is in it
		}
		if _, _, err := m.Image(); err != nil && slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, m.Path+": ") }) {
			continue // the target has said why it cannot be opened
		}
		for _, err := range symbols.Warnings(m) {
			if !short.add(m.Path, err) {
				warnings = append(warnings, err.Error())
			}
		}
	}
	warnings = append(warnings, short.warnings(flags.explain)...)
	return append(warnings, flags.warnings()...)
}
