//go:build linux

package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// asker is a session that asks the same question over and over.
type asker struct {
	*client
	stream  protocol.Sniffer_SessionClient
	subject *subject
}

func (s *subject) asker(ctx context.Context, path string, mtls bool) (*asker, error) {
	c, err := newClient(path, mtls)
	if err != nil {
		return nil, err
	}
	a := &asker{client: c, subject: s}
	if a.stream, err = c.Session(ctx); err == nil {
		_, err = a.exchange(&protocol.FromHost{Message: &protocol.FromHost_Begin{Begin: s.begin()}})
	}
	if err != nil {
		c.Kill()
		return nil, err
	}
	return a, nil
}

// exchange sends a message and returns the answer.
func (a *asker) exchange(m *protocol.FromHost) (*protocol.FromPlugin, error) {
	for {
		if err := a.stream.Send(m); err != nil {
			return nil, err
		}
		reply, err := a.stream.Recv()
		if err != nil {
			return nil, err
		}
		switch reply.Message.(type) {
		case *protocol.FromPlugin_Ready, *protocol.FromPlugin_Answer:
			return reply, nil
		}
		if m, err = external.Serve(reply, a.subject.Memory(), a.subject.Modules()); err != nil {
			return nil, err
		}
	}
}

// perRound is how many questions are asked between two looks at the clock.
const perRound = 200

// time asks a question often, and returns the time of one exchange.
func (a *asker) time(q *protocol.Question) (time.Duration, error) {
	m := &protocol.FromHost{Message: &protocol.FromHost_Question{Question: q}}
	begin := time.Now()
	for range perRound {
		reply, err := a.exchange(m)
		if err != nil {
			return 0, err
		}
		if reply.GetAnswer().GetRow() == nil {
			return 0, fmt.Errorf("the plug-in does not claim: %v", reply)
		}
	}
	return time.Since(begin) / perRound, nil
}

// questions measures one question, from the sending to the answer.
func questions(ctx context.Context, p *programs, _ build.Dir, o Options, s *report.Section) error {
	subject, err := newSubject(ctx, p, 5, 3)
	if err != nil {
		return err
	}
	defer subject.close()
	q, err := subject.question()
	if err != nil {
		return err
	}
	list := []*struct {
		what, plugin string
		mtls         bool
		asker        *asker
		samples      []time.Duration
	}{
		{what: "no request, with AutoMTLS", plugin: plain, mtls: true},
		{what: "no request, without", plugin: plain},
		{what: "the plug-in reads 64 bytes, with AutoMTLS", plugin: read, mtls: true},
		{what: "the plug-in reads 64 bytes, without", plugin: read},
	}
	for _, x := range list {
		if x.asker, err = subject.asker(ctx, p.plugin[x.plugin], x.mtls); err != nil {
			return err
		}
		defer x.asker.Kill()
	}
	for range o.Rounds {
		for _, x := range list {
			took, err := x.asker.time(q)
			if err != nil {
				return err
			}
			x.samples = append(x.samples, took)
		}
	}
	t := report.Table{
		Caption: fmt.Sprintf("**One question**, with %d registers, answered by a row; %d in turn", len(q.Registers), perRound),
		Head:    []string{"", "time"},
	}
	for _, x := range list {
		t.Add(x.what, cell(x.samples))
	}
	s.Tables = append(s.Tables, t)
	return nil
}
