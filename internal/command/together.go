package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
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
		m.doc.waits, m.doc.Deadlocks = nil, nil // they may be others in each round
	} else if m.merged != nil {
		m.doc.Threads = append(m.doc.Threads, doc.Threads...)
	}
	if m.samples += len(doc.Threads); m.samples > maxSamples {
		return fmt.Errorf("more than %d stacks were added up: no more are", maxSamples)
	}
	for i := m.taken; i < len(m.doc.Threads); i++ {
		m.doc.Threads[i].WaitsFor = nil
	}
	m.taken = len(m.doc.Threads)
	if m.rounds++; m.rounds > 1 {
		m.doc.Rounds = m.rounds
	}
	if !whole {
		return errEarly
	}
	return nil
}

// together has run walk stacks, and writes all of them as one picture.
func (w *walkFlags) together(cmd *cobra.Command, run func() error) error {
	m := newMany(w)
	w.many.into = m
	defer func() { w.many.into = nil }()
	err := run()
	if err != nil && !errors.Is(err, errEarly) && m.doc == nil {
		return err
	}
	if m.doc == nil {
		return errInterrupted
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
