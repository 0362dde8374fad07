package show

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/report"
)

// Sum is what the stacks of one or more targets are added up to: equal stacks once, a tree, or a
// picture for another program.
type Sum struct {
	flags   *report.Flags
	merged  *merged
	tree    *stackTree
	drawing *drawing

	// Of several targets, or rounds:
	Document *report.Document // of all
	Rounds   int              // how many times stacks were added
	samples  int              // how many stacks were added
}

// NewSum returns an empty sum of the kind that the flags ask for.
func NewSum(flags *report.Flags) *Sum {
	m := &Sum{flags: flags}
	switch {
	case flags.Sum.Merge:
		m.merged = newMerged(flags)
	case flags.Sum.Tree:
		m.tree = newStackTree()
	default:
		m.drawing = newDrawing()
	}
	return m
}

// add walks the stacks of s.
func (m *Sum) add(cmd *cobra.Command, s report.Source) (doc *report.Document, whole bool, err error) {
	if m.flags.Sum.Goroutines {
		if s, err = report.WithGoroutines(s, false); err != nil {
			return nil, false, err
		}
		if m.drawing != nil {
			m.drawing.stacks.Types[0].Name = "goroutines"
		}
	}
	if m.tree != nil && !m.flags.JSON && m.flags.Sum.Output == "" {
		if _, hide := m.flags.Short(cmd.OutOrStdout()); hide {
			m.tree.hid = &m.flags.View.Brief.Hid
		}
	}
	symbols := report.SymbolizerOf(s, m.flags)
	defer symbols.Close()
	whole = true
	cut := ""
	doc, err = report.Gather(s, symbols, m.flags, func(x *report.Walked) {
		whole = whole && x.Thread.Whole
		if x.Thread.Cut {
			cut = x.Thread.Detail
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
	if cut != "" {
		doc.Warnings = append(doc.Warnings, "stacks are cut: "+cut)
	}
	m.flags.Warn(cmd, doc.Warnings)
	if m.flags.SeveralProcesses {
		return doc, whole, nil
	}
	return doc, whole, m.flags.Values.Verdict()
}

// Write writes the sum; doc is about its target, or about the first of several.
func (m *Sum) Write(out io.Writer, doc *report.Document) error {
	switch {
	case m.drawing != nil:
		m.drawing.stacks.Title, m.drawing.stacks.Program = doc.Exe, doc.Exe
		if m.drawing.root != "" {
			m.drawing.stacks.Title, m.drawing.stacks.Program = "several processes", ""
		}
		return m.drawing.stacks.Write(out, m.flags.Sum.Format)
	case m.flags.JSON:
		return m.writeJSON(out, doc)
	}
	p := newTextPrinter(out, m.flags)
	p.Out = out
	p.Heading(doc)
	if m.tree != nil {
		p.MakeRoom()
		p.tree(m.tree)
	} else {
		written := 0
		for _, g := range m.merged.sorted() {
			if p.byFrame && len(g.Frames) == 0 {
				continue // it has no frame that the flags name
			}
			if written++; written > 1 {
				p.Byte('\n')
			}
			p.group(doc, g)
			p.MakeRoom()
		}
	}
	p.Ending(doc)
	return p.FlushTo(out)
}

// writeJSON writes the document with the stacks or the tree. The threads refer to the stacks.
func (m *Sum) writeJSON(out io.Writer, doc *report.Document) error {
	p := newJSONPrinter()
	p.Out = out
	var groups []*group
	if m.merged != nil {
		groups = m.merged.sorted()
	}
	// What can be large is not encoded at once.
	about := *doc
	about.Threads, about.Goroutines, about.Warnings, about.Hints, about.Asleep = []report.Thread{}, nil, nil, nil, nil
	p.value(&about, len("]}"))
	appendElements(p, doc.Threads)
	p.Byte(']')
	appendList(p, "warnings", doc.Warnings)
	appendList(p, "hints", doc.Hints)
	appendList(p, "goroutines", doc.Goroutines)
	p.deadlocks(doc)
	if m.tree != nil {
		appendList(p, "tree", m.tree.entries())
	} else {
		appendList(p, "stacks", groups)
	}
	p.Own("}\n")
	return p.FlushTo(out)
}

// appendList adds a field to a document, unless the list is empty.
func appendList[T any](p *jsonPrinter, field string, list []T) {
	if len(list) > 0 {
		p.Own(`,"` + field + `":[`)
		appendElements(p, list)
		p.Byte(']')
	}
}

func appendElements[T any](p *jsonPrinter, list []T) {
	for i := range list {
		if i > 0 {
			p.Byte(',')
		}
		p.MakeRoom()
		p.value(&list[i], 0)
	}
}
