package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"
	hcplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// Serve serves a sniffer to the host that has started this program, and ends the program when the
// host has ended. If a user has started the program, Serve prints what it is for.
//
// The host shows the program's standard error when something goes wrong, as 'sfwalk plugin run'
// always does. Standard output and input belong to the protocol.
func Serve(s Sniffer) {
	if os.Getenv(protocol.CookieKey) != protocol.CookieValue {
		d := s.Describe()
		fmt.Fprintf(os.Stderr, "%s %s is a %s for sfwalk, which starts it:\n\n  sfwalk plugin check %s\n  sfwalk attach --plugin %s PID\n",
			d.Name, d.Version, kindOf(s), os.Args[0], os.Args[0])
		os.Exit(2)
	}
	// The host holds the other end, which also closes if the host is killed.
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	config := &hcplugin.ServeConfig{
		HandshakeConfig: hcplugin.HandshakeConfig{MagicCookieKey: protocol.CookieKey, MagicCookieValue: protocol.CookieValue},
		VersionedPlugins: map[int]hcplugin.PluginSet{
			protocol.Version: {protocol.Service: &service{sniffer: s}},
		},
		GRPCServer: hcplugin.DefaultGRPCServer,
		Logger:     hclog.New(&hclog.LoggerOptions{Level: hclog.Error, Output: os.Stderr}),
	}
	if os.Getenv(clientCert) != "" {
		config.TLSProvider = mutualTLS
	}
	hcplugin.Serve(config)
}

// kindOf says what a plug-in is, for people.
func kindOf(s Sniffer) string {
	switch s.(type) {
	case alone:
		return "decorator"
	case Decorator:
		return "sniffer and decorator"
	}
	return "sniffer"
}

// service is the sniffer's service, for go-plugin and gRPC.
type service struct {
	hcplugin.NetRPCUnsupportedPlugin
	protocol.UnimplementedSnifferServer
	sniffer Sniffer
}

// GRPCServer is called by go-plugin.
func (s *service) GRPCServer(_ *hcplugin.GRPCBroker, g *grpc.Server) error {
	protocol.RegisterSnifferServer(g, s)
	return nil
}

// GRPCClient is the host's side: a plug-in has none.
func (s *service) GRPCClient(context.Context, *hcplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is a plug-in, not a host")
}

// Describe implements [protocol.SnifferServer].
func (s *service) Describe(context.Context, *protocol.DescribeRequest) (*protocol.Description, error) {
	d := s.sniffer.Describe()
	return d.message(), nil
}

// Session implements [protocol.SnifferServer].
func (s *service) Session(stream protocol.Sniffer_SessionServer) error {
	x := session{sniffer: s.sniffer, stream: stream}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reply, err := x.answer(m)
		if err != nil {
			return err
		}
		if err := stream.Send(reply); err != nil {
			return err
		}
	}
}

// session is the stream about one process.
type session struct {
	sniffer Sniffer
	stream  protocol.Sniffer_SessionServer
	answers Session // nil before Begin, and if Begin has declined
	runtime Runtime // nil if the session is not for stacks, or there is no run time
	query   Query
}

func (x *session) answer(m *protocol.FromHost) (*protocol.FromPlugin, error) {
	switch m := m.Message.(type) {
	case *protocol.FromHost_Begin:
		return &protocol.FromPlugin{Message: &protocol.FromPlugin_Ready{Ready: x.begin(m.Begin)}}, nil
	case *protocol.FromHost_Question:
		a := Decline("there is no session")
		if x.answers != nil {
			if err := x.query.fill(m.Question); err != nil {
				return nil, err
			}
			a = x.answers.Sniff(&x.query)
		}
		answer, err := a.message(m.Question.Number, x.query.Target)
		if err != nil {
			return nil, err
		}
		return &protocol.FromPlugin{Message: &protocol.FromPlugin_Answer{Answer: answer}}, nil
	case *protocol.FromHost_Stack:
		return x.decorate(m.Stack)
	case *protocol.FromHost_AskTasks:
		return x.tasks(m.AskTasks)
	}
	return nil, fmt.Errorf("the host sends %T, which answers nothing", m.Message)
}

func (x *session) begin(m *protocol.Begin) *protocol.Ready {
	t := newTarget(m)
	t.ask = func(m *protocol.FromPlugin) (*protocol.FromHost, error) {
		if err := x.stream.Send(m); err != nil {
			return nil, err
		}
		return x.stream.Recv()
	}
	x.query.Target, x.answers, x.runtime = t, nil, nil
	if t.Runtime != nil {
		return x.find()
	}
	var err error
	if x.answers, err = x.sniffer.Begin(t); err != nil {
		x.answers = nil
		return &protocol.Ready{Declines: err.Error()}
	}
	return &protocol.Ready{Never: ranges(t.never[:min(len(t.never), protocol.MaxNever)])}
}
