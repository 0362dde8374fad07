package report

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// Many is what the stacks of one or more targets are merged into.
type Many struct {
	flags   *Flags
	merged  *merged
	tree    *stackTree
	drawing *drawing

	// Of several targets, or rounds:
	Document *Document // of all
	Rounds   int       // how many times stacks were added
	samples  int       // how many stacks were added
}

// NewMany returns an empty picture of the kind that the flags ask for.
func NewMany(flags *Flags) *Many {
	m := &Many{flags: flags}
	switch {
	case flags.Many.Merge:
		m.merged = newMerged()
	case flags.Many.Tree:
		m.tree = newStackTree()
	default:
		m.drawing = newDrawing()
	}
	return m
}

// add walks the stacks of s.
func (m *Many) add(cmd *cobra.Command, s Source) (doc *Document, whole bool, err error) {
	if m.flags.Many.Goroutines {
		if s, err = WithGoroutines(s, false); err != nil {
			return nil, false, err
		}
		if m.drawing != nil {
			m.drawing.stacks.Types[0].Name = "goroutines"
		}
	}
	symbols := SymbolizerOf(s, m.flags)
	defer symbols.Close()
	whole = true
	cut := ""
	doc, err = gather(s, symbols, m.flags, func(x *walked) {
		whole = whole && x.thread.Whole
		if x.thread.cut {
			cut = x.thread.Detail
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
	m.flags.warn(cmd, doc.Warnings)
	return doc, whole, m.flags.Values.verdict()
}

// Write writes the picture of one target.
func (m *Many) Write(out io.Writer, doc *Document) error {
	switch {
	case m.drawing != nil:
		m.drawing.stacks.Title, m.drawing.stacks.Program = doc.Exe, doc.Exe
		if m.drawing.root != "" {
			m.drawing.stacks.Title, m.drawing.stacks.Program = "several processes", ""
		}
		return m.drawing.stacks.Write(out, m.flags.Many.Format)
	case m.flags.JSON:
		return m.writeJSON(out, doc)
	}
	p := &textPrinter{color: m.flags.useColor(out), withModules: m.flags.View.modules}
	if w, ok := out.(*printable.Writer); ok && p.color {
		w.AllowColors()
	}
	p.Out = out
	p.Heading(doc)
	if m.tree != nil {
		p.MakeRoom()
		p.tree(m.tree)
	} else {
		for i, g := range m.merged.sorted() {
			if i > 0 {
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
func (m *Many) writeJSON(out io.Writer, doc *Document) error {
	p := newJSONPrinter()
	p.Out = out
	var groups []*group
	if m.merged != nil {
		groups = m.merged.sorted()
	}
	// What can be large is not encoded at once.
	about := *doc
	about.Threads, about.Goroutines, about.Warnings, about.Asleep = []Thread{}, nil, nil, nil
	p.value(&about, len("]}"))
	appendElements(p, doc.Threads)
	p.Byte(']')
	appendList(p, "warnings", doc.Warnings)
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

// showMany walks a target and prints it as one picture.
func showMany(cmd *cobra.Command, s Source, flags *Flags) error {
	if m := flags.Many.Into; m != nil {
		return m.AddRound(cmd, s)
	}
	m := NewMany(flags)
	doc, whole, err := m.add(cmd, s)
	if err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return exit.ErrInterrupted
	}
	out, end, err := flags.Many.Open(cmd)
	if err != nil {
		return err
	}
	if err := errors.Join(m.Write(out, doc), end()); err != nil {
		return err
	}
	if !whole {
		return exit.ErrEarly
	}
	return nil
}
