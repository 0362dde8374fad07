package report

import (
	"errors"
	"os"
	"slices"

	"github.com/sfwalk/sfwalk/internal/command/hints"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
)

// hints returns what helps where functions in the stacks have no names. Without JSON, whose
// document has them, they are printed when the command ends.
func (w *walk) hints() (texts []string) {
	origin, flags := w.From(), w.flags
	var about Document
	w.About(&about)
	list := w.seen.Lines(&hints.About{
		PID: about.PID, Exe: about.Exe, Modules: w.Modules().All(), Root: origin.Root, Open: openerOf(origin),
		Lacks: w.symbols.Lacks, Live: origin.Process.Live, OneMoment: OneMoment(w.Source), Suspected: w.suspected(), Languages: w.languages.names(),
		Refused: func(m *target.Module) bool {
			return slices.ContainsFunc(w.symbols.Warnings(m), func(err error) bool { return errors.Is(err, symbol.ErrMismatch) })
		},
		Servers: len(flags.Debug.Servers.URLs) > 0, ServersUnasked: flags.Debug.Unasked, ServersFailed: len(flags.Debug.Failed) > 0, Held: flags.Holds,
		Registered: slices.ContainsFunc(w.Modules().Registered().Objects, func(m *target.Module) bool { return m.ImageUsed() }),
		FileFlags:  origin.FileFlags, ExeFlag: origin.ExeFlag,
	})
	if !flags.JSON && flags.hints != nil {
		flags.hints.Add(list)
	}
	for _, l := range list {
		texts = append(texts, l.String())
	}
	return texts
}

// openerOf returns what opens files that belong to a target's system; nil for this program's
// rights.
func openerOf(origin *Origin) func(root, path string) (*os.File, error) {
	if origin.Opener == nil {
		return nil
	}
	return origin.Opener
}
