package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// maxSamples bounds the stacks of all rounds together, each of which takes memory here.
const maxSamples = 1 << 20

// take walks the stacks of s, and adds them to those of earlier rounds and of other processes.
func (m *many) take(cmd *cobra.Command, s *source) error {
	doc, whole, err := m.add(cmd, s)
	if err != nil {
		return err
	}
	if m.doc == nil {
		m.doc = doc
		m.doc.Asleep = nil // they may be awake in another round
	} else if m.merged != nil {
		m.doc.Threads = append(m.doc.Threads, doc.Threads...)
		m.doc.Goroutines = append(m.doc.Goroutines, doc.Goroutines...)
	}
	if m.rounds++; m.rounds > 1 {
		m.doc.Rounds = m.rounds
	}
	if m.samples > maxSamples {
		return fmt.Errorf("more than %d stacks were added up: no more are", maxSamples)
	}
	if !whole {
		return exit.Early
	}
	return nil
}

// together has run walk stacks, and writes all of them as one picture.
func (w *walkFlags) together(cmd *cobra.Command, run func() error) error {
	m := newMany(w)
	w.many.into = m
	defer func() { w.many.into = nil }()
	err := run()
	if err != nil && !errors.Is(err, exit.Early) && m.doc == nil {
		return err
	}
	if m.doc == nil {
		return exit.Interrupted
	}
	out, end, failed := w.many.to(cmd)
	if failed != nil {
		return failed
	}
	return errors.Join(m.write(out, m.doc), end(), err)
}

// process has what is added from now on shown as another process's.
func (m *many) process(pid int, name string) {
	if m.drawing != nil {
		m.drawing.pid, m.drawing.root = pid, fmt.Sprintf("%s (%d)", name, pid)
	}
}

// later reports whether stacks are printed when all rounds, or processes, are over.
func (m *manyFlags) later() bool { return m.into != nil || m.each != nil }

// perProcess has what the stacks of several processes are merged into, each process's by themselves.
type perProcess struct {
	pids []int // in the order in which they were first attached to
	by   map[int]*many
}

// of returns what the stacks of a process are added to.
func (p *perProcess) of(flags *walkFlags, pid int) *many {
	m := p.by[pid]
	if m == nil {
		m = newMany(flags)
		p.by[pid], p.pids = m, append(p.pids, pid)
	}
	return m
}

// apart has run walk stacks of several processes, and writes those of each process merged.
func (w *walkFlags) apart(cmd *cobra.Command, run func() error) error {
	a := &perProcess{by: map[int]*many{}}
	w.many.each = a
	defer func() { w.many.into, w.many.each = nil, nil }()
	err := run()
	out, end, failed := w.many.to(cmd)
	if failed != nil {
		return failed
	}
	written := 0
	for _, pid := range a.pids {
		m := a.by[pid]
		if m.doc == nil {
			continue // it could not be read
		}
		if !w.json {
			if written > 0 {
				printable.Fprintf(out, "\n")
			}
			printable.Fprintf(out, "Process %d\n", pid)
		}
		written++
		if failed = m.write(out, m.doc); failed != nil {
			break
		}
	}
	if err = errors.Join(failed, end(), err); err == nil && written == 0 {
		return exit.Interrupted
	}
	return err
}
