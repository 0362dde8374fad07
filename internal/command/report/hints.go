package report

import (
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/sfwalk/sfwalk/internal/command/hints"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// saidHints are the hints of a command, each of which is printed once. It is safe for concurrent
// use.
type saidHints struct {
	mu      sync.Mutex
	known   []string
	pending []string // not printed yet
}

// maxHints bounds the hints of a command: thousands of processes may have names of their own.
const maxHints = 32

// add notes hints that will be printed.
func (s *saidHints) add(list []string) {
	if s == nil {
		return // nobody prints them
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range list {
		if len(s.known) < maxHints && !slices.Contains(s.known, text) {
			s.known, s.pending = append(s.known, text), append(s.pending, text)
		}
	}
}

// take returns the hints that are to be printed now.
func (s *saidHints) take() []string {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.pending
	s.pending = nil
	return list
}

// hints returns what helps where functions in the stacks have no names. Without JSON, whose
// document has them, they are printed with the warnings.
func (w *walk) hints() []string {
	origin, flags := w.From(), w.flags
	var about Document
	w.About(&about)
	list := w.seen.Lines(&hints.About{
		PID: about.PID, Exe: about.Exe, Modules: w.Modules().All(), Root: origin.Root, Open: openerOf(origin),
		Lacks: w.symbols.Lacks, Live: origin.Process.Live,
		Refused: func(m *target.Module) bool {
			return slices.ContainsFunc(w.symbols.Warnings(m), func(err error) bool { return errors.Is(err, symbol.ErrMismatch) })
		},
		Servers: len(flags.Debug.Servers.URLs) > 0, ServersUnasked: flags.Debug.Unasked, ServersFailed: len(flags.Debug.Failed) > 0, Held: flags.Holds,
		Registered: slices.ContainsFunc(w.Modules().Registered().Objects, func(m *target.Module) bool { return m.ImageUsed() }),
		FileFlags:  origin.FileFlags, ExeFlag: origin.ExeFlag,
	})
	if !flags.JSON {
		flags.said.add(list)
	}
	return list
}

// openerOf returns what opens files that belong to a target's system; nil for this program's
// rights.
func openerOf(origin *Origin) func(root, path string) (*os.File, error) {
	if origin.Opener == nil {
		return nil
	}
	return origin.Opener
}
