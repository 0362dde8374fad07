package plugincheck

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// session is a stream to the plug-in about one process.
type session struct {
	*counts
	stream protocol.Sniffer_SessionClient
	cancel context.CancelFunc
	about  *subject
	number uint64
}

// counts are the counts of all sessions together.
type counts struct {
	questions, requests int
	slowest             time.Duration // answer
	slowestAt           string        // the question
	hangs               bool          // the plug-in did not answer in time: ask no more
}

// open opens a session and begins it for a process.
func (c *child) open(ctx context.Context, n *counts, about *subject) (*session, *protocol.Ready, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := c.service.Session(ctx)
	if err != nil {
		cancel()
		return nil, nil, c.explain(err)
	}
	x := &session{counts: n, stream: stream, cancel: cancel}
	ready, err := x.begin(about)
	if err != nil {
		cancel()
		return nil, nil, c.explain(err)
	}
	return x, ready, nil
}

// explain returns the cause of a stream's error: the process may have ended.
func (c *child) explain(err error) error {
	s, ok := status.FromError(err)
	within := 200 * time.Millisecond
	if ok && s.Code() == codes.Unavailable {
		within = time.Second // the connection is broken: the process ends soon
	}
	if !errors.Is(err, errLate) && c.over(within) {
		return fmt.Errorf("it ends (%s)%s", c.how(), c.wrote())
	}
	if ok {
		return fmt.Errorf("it ends the session: %s", shown(s.Message(), 200))
	}
	return err
}

// errLate: no answer came.
var errLate = errors.New("no answer")

// exchange sends a message and returns the answer. took is the plug-in's time alone.
func (x *session) exchange(m *protocol.FromHost, limit time.Duration) (reply *protocol.FromPlugin, requests int, took time.Duration, err error) {
	for {
		timer := time.AfterFunc(limit, x.cancel)
		begin := time.Now()
		if err = x.stream.Send(m); err == nil || errors.Is(err, io.EOF) {
			reply, err = x.stream.Recv()
		}
		took += time.Since(begin)
		if !timer.Stop() {
			x.hangs = true
			return nil, requests, took, fmt.Errorf("%w within %v", errLate, limit)
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("it ends the session")
		}
		if err != nil {
			return nil, requests, took, err
		}
		switch reply.Message.(type) {
		case *protocol.FromPlugin_Ready, *protocol.FromPlugin_Answer:
			return reply, requests, took, nil
		}
		if requests++; requests > protocol.MaxRequests {
			return nil, requests, took, fmt.Errorf("more than %d requests for one answer", protocol.MaxRequests)
		}
		if m, err = external.Serve(reply, x.about.Memory(), x.about.Modules()); err != nil {
			return nil, requests, took, err
		}
	}
}

// begin describes the process.
func (x *session) begin(about *subject) (*protocol.Ready, error) {
	x.about = about
	a := about.Arch()
	reply, requests, _, err := x.exchange(&protocol.FromHost{Message: &protocol.FromHost_Begin{Begin: &protocol.Begin{
		Architecture: a.Name, BigEndian: a.Order == binary.ByteOrder(binary.BigEndian), AddressSize: uint32(a.PtrSize),
		Pc: uint32(a.PC), Sp: uint32(a.SP), Fp: uint32(a.FP), Ra: uint32(a.RA),
		Pid: int32(about.about.PID), Live: about.about.Live, Root: about.about.Root,
	}}}, startLimit)
	if err != nil {
		return nil, fmt.Errorf("to begin with %s: %w", about.name, err)
	}
	x.requests += requests
	ready := reply.GetReady()
	if ready == nil {
		return nil, fmt.Errorf("to begin with %s: it answers %T, not Ready", about.name, reply.Message)
	}
	return ready, nil
}

// ask asks q and sets its number.
func (x *session) ask(q *protocol.Question) (*protocol.Answer, error) {
	x.number++
	q = proto.Clone(q).(*protocol.Question)
	q.Number = x.number
	reply, requests, took, err := x.exchange(&protocol.FromHost{Message: &protocol.FromHost_Question{Question: q}}, answerLimit)
	x.questions++
	x.requests += requests
	if took > x.slowest {
		x.slowest, x.slowestAt = took, fmt.Sprintf("%s, frame %d at %#x", x.about.name, q.Level, q.Pc)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, frame %d at %#x: %w", x.about.name, q.Level, q.Pc, err)
	}
	a := reply.GetAnswer()
	switch {
	case a == nil:
		return nil, fmt.Errorf("%s, frame %d at %#x: it answers %T, not Answer", x.about.name, q.Level, q.Pc, reply.Message)
	case a.Number != q.Number:
		return nil, fmt.Errorf("%s, frame %d at %#x: the answer is to question %d, asked was %d", x.about.name, q.Level, q.Pc, a.Number, q.Number)
	}
	a.Number = 0 // for comparisons
	return a, nil
}
