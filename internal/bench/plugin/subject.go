//go:build linux

package plugin

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/bench/process"
	"github.com/sfwalk/sfwalk/internal/test/plugintest/jit"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/live"
	"github.com/sfwalk/sfwalk/trad"
)

// subject is a process as it was at the attach.
type subject struct {
	*live.Target
	process *process.Process
	thread  target.Thread
	own     *jit.InProcess // the plug-in's knowledge, in this process
	frames  int            // of its stack
}

func newSubject(ctx context.Context, p *programs, depth, functions int) (*subject, error) {
	running, err := p.run(depth, functions)
	if err != nil {
		return nil, err
	}
	t, err := live.Attach(ctx, running.PID, live.Options{})
	if err != nil {
		running.Stop()
		return nil, err
	}
	s := &subject{Target: t, process: running}
	threads, _ := t.Threads() // never fails
	s.thread = threads[0]
	if s.own, err = jit.NewInProcess(t); err == nil {
		s.frames, err = s.walk(s.table(s.own))
	}
	if err == nil && s.frames < 2*depth {
		err = fmt.Errorf("%d frames of a stack of more than %d", s.frames, 2*depth)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *subject) close() {
	s.Close()
	s.process.Stop()
}

// table returns a table in which s stands in the default place of a plug-in.
func (s *subject) table(x frame.Sniffer) *frame.Table {
	t := sniffer.Table(s.Arch())
	if err := t.Before("prologue", x); err != nil {
		panic(err) // the default table has one
	}
	return t
}

// about describes the process to the plug-in.
func (s *subject) about() external.Target {
	return external.Target{PID: s.PID, Live: true, Root: fmt.Sprintf("/proc/%d/root", s.PID)}
}

// walk walks the stack to its end.
func (s *subject) walk(t *frame.Table) (frames int, err error) {
	stack, err := frame.New(s, s.thread, t)
	if err != nil {
		return 0, err
	}
	for _, err := range stack.All() {
		if err != nil {
			return frames, err
		}
		frames++
	}
	return frames, nil
}

// question returns the question that the host would ask about the innermost frame of machine code.
func (s *subject) question() (*protocol.Question, error) {
	stack, err := frame.New(s, s.thread, s.table(s.own))
	if err != nil {
		return nil, err
	}
	for f, err := range stack.All() {
		if err != nil {
			return nil, err
		}
		if f.Sniffer() != s.own.Name() {
			continue
		}
		next, _ := f.Next().CFA()
		q := &protocol.Question{Number: 1, Pc: f.PC(), Block: f.AddressInBlock(), Level: uint32(f.Level), NextCfa: next}
		var regs arch.Registers
		f.Registers(&regs)
		for r := range trad.Reg(arch.MaxReg) {
			if v, ok := regs.Get(r); ok {
				q.Registers, q.Values = append(q.Registers, uint32(r)), append(q.Values, v)
			}
		}
		return q, nil
	}
	return nil, fmt.Errorf("no frame is unwound by %s", s.own.Name())
}

// begin returns the host's first message.
func (s *subject) begin() *protocol.Begin {
	a := s.Arch()
	return &protocol.Begin{
		Architecture: a.Name, BigEndian: a.Order == binary.ByteOrder(binary.BigEndian), AddressSize: uint32(a.PtrSize),
		Pc: uint32(a.PC), Sp: uint32(a.SP), Fp: uint32(a.FP), Ra: uint32(a.RA), Pid: int32(s.PID), Live: true,
	}
}
