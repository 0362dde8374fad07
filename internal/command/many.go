package command

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// many is what the stacks of one or more targets are merged into.
type many struct {
	flags   *walkFlags
	merged  *merged
	tree    *stackTree
	drawing *drawing

	// Of several targets, or rounds:
	doc     *document // of all
	rounds  int       // how many times stacks were added
	samples int       // how many stacks were added
}

func newMany(flags *walkFlags) *many {
	m := &many{flags: flags}
	switch {
	case flags.many.merge:
		m.merged = newMerged()
	case flags.many.tree:
		m.tree = newStackTree()
	default:
		m.drawing = newDrawing()
	}
	return m
}

// add walks the stacks of s.
func (m *many) add(cmd *cobra.Command, s *source) (doc *document, whole bool, err error) {
	if m.flags.many.goroutines {
		if s, err = s.withGoroutines(); err != nil {
			return nil, false, err
		}
		if m.drawing != nil {
			m.drawing.stacks.Types[0].Name = "goroutines"
		}
	}
	symbols := s.symbolizer(m.flags)
	defer symbols.Close()
	whole = true
	cut := ""
	doc, err = gather(s, symbols, m.flags, func(x *walked) {
		whole = whole && x.thread.whole
		if x.thread.cut {
			cut = x.thread.detail
		}
		switch {
		case m.merged != nil:
			m.merged.add(x)
		case m.tree != nil:
			m.tree.add(x)
		default:
			m.drawing.add(s, x)
		}
		m.samples++
	})
	if err != nil {
		return nil, false, err
	}
	doc.Warnings = s.warned(symbols, m.flags)
	if cut != "" {
		doc.Warnings = append(doc.Warnings, "stacks are cut: "+cut)
	}
	m.flags.warn(cmd, doc.Warnings)
	return doc, whole, m.flags.values.verdict()
}

// write writes the picture of one target.
func (m *many) write(out io.Writer, doc *document) error {
	switch {
	case m.drawing != nil:
		m.drawing.stacks.Title, m.drawing.stacks.Program = doc.Exe, doc.Exe
		if m.drawing.root != "" {
			m.drawing.stacks.Title, m.drawing.stacks.Program = "several processes", ""
		}
		return m.drawing.stacks.Write(out, m.flags.many.format)
	case m.flags.json:
		return m.writeJSON(out, doc)
	}
	p := &textPrinter{color: m.flags.useColor(out), withModules: m.flags.view.modules}
	if w, ok := out.(*printable.Writer); ok && p.color {
		w.AllowColors()
	}
	p.out = out
	p.heading(doc)
	if m.tree != nil {
		p.makeRoom()
		p.tree(m.tree)
	} else {
		for i, g := range m.merged.sorted() {
			if i > 0 {
				p.byte('\n')
			}
			p.group(doc, g)
			p.makeRoom()
		}
	}
	p.ending(doc)
	return p.write(out)
}

// writeJSON writes the document with the stacks or the tree. The threads refer to the stacks.
func (m *many) writeJSON(out io.Writer, doc *document) error {
	p := newJSONPrinter()
	p.out = out
	var groups []*group
	if m.merged != nil {
		groups = m.merged.sorted()
	}
	// What can be large is not encoded at once.
	about := *doc
	about.Threads, about.Goroutines, about.Warnings, about.Asleep = []thread{}, nil, nil, nil
	p.value(&about, len("]}"))
	appendElements(p, doc.Threads)
	p.byte(']')
	appendList(p, "warnings", doc.Warnings)
	appendList(p, "goroutines", doc.Goroutines)
	p.deadlocks(doc)
	if m.tree != nil {
		appendList(p, "tree", m.tree.entries())
	} else {
		appendList(p, "stacks", groups)
	}
	p.own("}\n")
	return p.write(out)
}

// appendList adds a field to a document, unless the list is empty.
func appendList[T any](p *jsonPrinter, field string, list []T) {
	if len(list) > 0 {
		p.own(`,"` + field + `":[`)
		appendElements(p, list)
		p.byte(']')
	}
}

func appendElements[T any](p *jsonPrinter, list []T) {
	for i := range list {
		if i > 0 {
			p.byte(',')
		}
		p.makeRoom()
		p.value(&list[i], 0)
	}
}

// showMany walks a target and prints it as one picture.
func showMany(cmd *cobra.Command, s *source, flags *walkFlags) error {
	if m := flags.many.into; m != nil {
		return m.take(cmd, s)
	}
	m := newMany(flags)
	doc, whole, err := m.add(cmd, s)
	if err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return exit.Interrupted
	}
	out, end, err := flags.many.to(cmd)
	if err != nil {
		return err
	}
	if err := errors.Join(m.write(out, doc), end()); err != nil {
		return err
	}
	if !whole {
		return exit.Early
	}
	return nil
}
