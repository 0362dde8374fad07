package external

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// session is the stream of questions about one process. It serves one goroutine at a time.
type session struct {
	plugin *Plugin
	target Target
	stream protocol.Sniffer_SessionClient
	cancel context.CancelFunc
	epoch  uint64 // the sniffer's epoch when the session began; 0 before

	most    int            // requests before one answer
	runtime *target.Module // if the session is for stacks
	left    time.Duration  // of the deadline, after the last exchange

	about  *asked // answers the plug-in's requests
	number uint64 // of the last question
	stack  []byte
	code   []byte
}

func (p *Plugin) newSession(t Target) (*session, error) {
	ctx, cancel := context.WithCancel(p.ctx)
	stream, err := p.service.Session(ctx)
	if err != nil {
		cancel()
		return nil, p.callError(ErrNonsense, err)
	}
	return &session{plugin: p, target: t, stream: stream, cancel: cancel, most: protocol.MaxRequests}, nil
}

// exchange sends a message and returns the answer. Meanwhile it serves the plug-in's requests; the
// time for that does not count against the deadline.
func (x *session) exchange(m *protocol.FromHost, deadline time.Duration) (reply *protocol.FromPlugin, requests int, err error) {
	timer := time.AfterFunc(deadline, x.cancel)
	defer timer.Stop()
	for left := deadline; ; requests++ {
		begin := time.Now()
		if err = x.stream.Send(m); err == nil || errors.Is(err, io.EOF) {
			reply, err = x.stream.Recv()
		}
		left -= time.Since(begin)
		if !timer.Stop() || left <= 0 {
			return nil, requests, fmt.Errorf("%w: %v are over", ErrDeadline, deadline)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("it ends the session")
			}
			return nil, requests, x.plugin.callError(ErrNonsense, err)
		}
		switch reply.Message.(type) {
		case *protocol.FromPlugin_Ready, *protocol.FromPlugin_Answer, *protocol.FromPlugin_Decoration, *protocol.FromPlugin_GoOn,
			*protocol.FromPlugin_Tasks:
			x.left = left
			return reply, requests, nil
		}
		if requests == x.most {
			return nil, requests, nonsense("more than %d requests for one answer", x.most)
		}
		if m, err = x.serve(reply); err != nil {
			return nil, requests, err
		}
		timer.Reset(left)
	}
}

// ready describes the process to the plug-in, and a run time's file.
func (x *session) ready() (*protocol.Ready, error) {
	a := x.about.arch
	reply, _, err := x.exchange(&protocol.FromHost{Message: &protocol.FromHost_Begin{Begin: &protocol.Begin{
		RunTime:      questioned(x.runtime),
		Architecture: a.Name, BigEndian: a.Order == binary.ByteOrder(binary.BigEndian), AddressSize: uint32(a.PtrSize),
		Pc: uint32(a.PC), Sp: uint32(a.SP), Fp: uint32(a.FP), Ra: uint32(a.RA),
		Pid: int32(x.target.PID), Live: x.target.Live, Root: x.target.Root,
	}}}, x.plugin.opts.StartTimeout)
	if err == nil && reply.GetReady() == nil {
		err = nonsense("%T where Ready was wanted", reply.Message)
	}
	return reply.GetReady(), err
}

// begin describes the process to the plug-in.
func (x *session) begin() (declines frame.Answer, never []plugin.Range, err error) {
	ready, err := x.ready()
	switch {
	case err != nil:
		return "", nil, err
	case len(ready.Never) > protocol.MaxNever:
		return "", nil, nonsense("%d ranges that it never claims: at most %d", len(ready.Never), protocol.MaxNever)
	case ready.Declines != "":
		return declined(ready.Declines), nil, nil
	}
	never, err = denied(ready.Never)
	return "", never, err
}

// ask asks about THIS.
func (x *session) ask(q *frame.Query) (r reply, err error) {
	x.number++
	m := &protocol.Question{
		Number: x.number, Pc: q.PC, Block: q.AddressInBlock, Level: uint32(x.about.level), NextCfa: x.about.nextCFA, Module: questioned(q.Modules.FindFile(q.AddressInBlock)),
		Thread: int32(x.about.thread),
	}
	regs := x.about.regs
	n := regs.Known.Len()
	m.Registers, m.Values = make([]uint32, 0, n), make([]uint64, 0, n)
	for i := range trad.Reg(len(regs.Value)) {
		if v, ok := regs.Get(i); ok {
			m.Registers, m.Values = append(m.Registers, uint32(i)), append(m.Values, v)
		}
	}
	needs := &x.plugin.Description.Needs
	if sp, ok := regs.Get(q.Arch.SP); ok && needs.Stack > 0 {
		m.Stack = x.block(&x.stack, sp, needs.Stack)
	}
	if needs.CodeBefore+needs.CodeAfter > 0 {
		m.Code = x.around(q.PC, uint64(needs.CodeBefore), uint64(needs.CodeAfter))
	}
	begin := time.Now()
	reply, requests, err := x.exchange(&protocol.FromHost{Message: &protocol.FromHost_Question{Question: m}}, x.plugin.opts.Deadline)
	took := time.Since(begin)
	answer := reply.GetAnswer()
	switch {
	case err != nil:
	case answer == nil:
		err = nonsense("%T where an answer was wanted", reply.Message)
	case answer.Number != m.Number:
		err = nonsense("an answer to question %d, where %d was asked", answer.Number, m.Number)
	default:
		r, err = x.about.check(answer)
	}
	if err != nil {
		err = fmt.Errorf("%w (asked about frame %d at %#x)", err, x.about.level, q.PC)
	}
	if trace := x.plugin.opts.Trace; trace != nil {
		trace(Exchange{Question: m, Answer: answer, Requests: requests, Took: took, Err: err})
	}
	return r, err
}

// questioned returns a description of a question's module.
func questioned(m *target.Module) *protocol.Module {
	if m == nil {
		return nil
	}
	to := listed(m)
	if _, bias, err := m.Image(); err == nil {
		to.Bias, to.BuildId = bias, m.BuildID()
	}
	return to
}

// block reads as much as it can of size bytes of memory at addr, into a buffer that is used again.
func (x *session) block(room *[]byte, addr uint64, size int) *protocol.Block {
	if len(*room) < size {
		*room = make([]byte, size)
	}
	n, _ := x.about.memory.ReadMemory(addr, (*room)[:size])
	return &protocol.Block{Address: addr, Data: (*room)[:n]}
}

// around reads the code around pc, without a gap between its first byte and pc.
func (x *session) around(pc, before, after uint64) *protocol.Block {
	const page = 1 << 12
	lo := pc - min(before, pc)
	for {
		b := x.block(&x.code, lo, int(pc-lo+after))
		if lo+uint64(len(b.Data)) > pc || lo >= pc&^(page-1) {
			return b
		}
		lo = max(lo&^(page-1)+page, lo+1) // the page before may not be mapped
	}
}
