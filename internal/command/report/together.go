package report

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// maxSamples bounds the stacks of all rounds together, each of which takes memory here.
const maxSamples = 1 << 20

// AddRound walks the stacks of s, and adds them to the stacks of earlier rounds and of other
// processes.
func (m *Many) AddRound(cmd *cobra.Command, s Source) error {
	doc, whole, err := m.add(cmd, s)
	if err != nil {
		return err
	}
	if m.Document == nil {
		m.Document = doc
		m.Document.Asleep = nil // they may be awake in another round
	} else if m.merged != nil {
		m.Document.Threads = append(m.Document.Threads, doc.Threads...)
		m.Document.Goroutines = append(m.Document.Goroutines, doc.Goroutines...)
	}
	if m.Rounds++; m.Rounds > 1 {
		m.Document.Rounds = m.Rounds
	}
	if m.samples > maxSamples {
		return fmt.Errorf("more than %d stacks were added up: no more are", maxSamples)
	}
	if !whole {
		return exit.ErrEarly
	}
	return nil
}

// RunTogether has run walk stacks, and writes all of them as one picture.
func (w *Flags) RunTogether(cmd *cobra.Command, run func() error) error {
	m := NewMany(w)
	w.Many.Into = m
	defer func() { w.Many.Into = nil }()
	err := run()
	if err != nil && !errors.Is(err, exit.ErrEarly) && m.Document == nil {
		return err
	}
	if m.Document == nil {
		return exit.ErrInterrupted
	}
	out, end, failed := w.Many.Open(cmd)
	if failed != nil {
		return failed
	}
	return errors.Join(m.Write(out, m.Document), end(), err)
}

// BeginProcess has what is added from now on shown as another BeginProcess's.
func (m *Many) BeginProcess(pid int, name string) {
	if m.drawing != nil {
		m.drawing.pid, m.drawing.root = pid, fmt.Sprintf("%s (%d)", name, pid)
	}
}

// IsLater reports whether stacks are printed when all rounds, or processes, are over.
func (m *ManyFlags) IsLater() bool { return m.Into != nil || m.PerProcess != nil }

// perProcess has what the stacks of several processes are merged into, each process's by
// themselves.
type perProcess struct {
	pids []int // in the order in which they were first attached to
	by   map[int]*Many
}

// Of returns what the stacks Of a process are added to.
func (p *perProcess) Of(flags *Flags, pid int) *Many {
	m := p.by[pid]
	if m == nil {
		m = NewMany(flags)
		p.by[pid], p.pids = m, append(p.pids, pid)
	}
	return m
}

// RunApart has run walk stacks of several processes, and writes each process's merged.
func (w *Flags) RunApart(cmd *cobra.Command, run func() error) error {
	a := &perProcess{by: map[int]*Many{}}
	w.Many.PerProcess = a
	defer func() { w.Many.Into, w.Many.PerProcess = nil, nil }()
	err := run()
	out, end, failed := w.Many.Open(cmd)
	if failed != nil {
		return failed
	}
	written := 0
	for _, pid := range a.pids {
		m := a.by[pid]
		if m.Document == nil {
			continue // it could not be read
		}
		if !w.JSON {
			if written > 0 {
				printable.Fprintf(out, "\n")
			}
			printable.Fprintf(out, "Process %d\n", pid)
		}
		written++
		if failed = m.Write(out, m.Document); failed != nil {
			break
		}
	}
	if err = errors.Join(failed, end(), err); err == nil && written == 0 {
		return exit.ErrInterrupted
	}
	return err
}
