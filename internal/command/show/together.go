package show

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/internal/printable"
)

// maxSamples bounds the stacks of all rounds together, each of which takes memory here.
const maxSamples = 1 << 20

// AddRound walks the stacks of s, and adds them to the stacks of earlier rounds and of other
// processes.
func (m *Sum) AddRound(cmd *cobra.Command, s report.Source) error {
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

// Together has run show stacks, and writes all of them as one picture.
func (p *Stacks) Together(cmd *cobra.Command, run func() error) error {
	m := NewSum(p.Flags)
	p.into, p.Flags.Sum.Later = m, true
	defer func() { p.into, p.Flags.Sum.Later = nil, false }()
	err := run()
	if err != nil && !errors.Is(err, exit.ErrEarly) && m.Document == nil {
		return err
	}
	if m.Document == nil {
		return exit.ErrInterrupted
	}
	out, end, failed := p.Flags.Sum.Open(cmd)
	if failed != nil {
		return failed
	}
	return errors.Join(end(m.Write(out, m.Document)), err)
}

// BeginProcess has what is shown from now on be another process's. name returns its name.
func (p *Stacks) BeginProcess(pid int, name func(pid int) string) {
	if p.apart != nil {
		p.into = p.apart.of(p.Flags, pid)
	} else if m := p.into; m != nil && m.drawing != nil && p.Flags.SeveralProcesses {
		m.drawing.pid, m.drawing.root = pid, fmt.Sprintf("%s (%d)", name(pid), pid)
	}
}

// perProcess has what the stacks of several processes are merged into, each process's by
// themselves.
type perProcess struct {
	pids []int // in the order in which they were first attached to
	by   map[int]*Sum
}

// of returns what the stacks of a process are added to.
func (p *perProcess) of(flags *report.Flags, pid int) *Sum {
	m := p.by[pid]
	if m == nil {
		m = NewSum(flags)
		p.by[pid], p.pids = m, append(p.pids, pid)
	}
	return m
}

// Apart has run show stacks of several processes, and writes each process's merged.
func (p *Stacks) Apart(cmd *cobra.Command, run func() error) error {
	a := &perProcess{by: map[int]*Sum{}}
	p.apart, p.Flags.Sum.Later = a, true
	defer func() { p.into, p.apart, p.Flags.Sum.Later = nil, nil, false }()
	err := run()
	out, end, failed := p.Flags.Sum.Open(cmd)
	if failed != nil {
		return failed
	}
	written := 0
	for _, pid := range a.pids {
		m := a.by[pid]
		if m.Document == nil {
			continue // it could not be read
		}
		if !p.Flags.JSON {
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
	if err = errors.Join(end(failed), err); err == nil && written == 0 {
		return exit.ErrInterrupted
	}
	return err
}
