//go:build linux

package plugintest

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"
	hcplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/sfwalk/sfwalk/plugin/protocol"
)

type stream = protocol.Sniffer_SessionServer

// bad is a plug-in that speaks the protocol and calls its functions. Without them it behaves well,
// and declines every frame.
type bad struct {
	hcplugin.NetRPCUnsupportedPlugin
	protocol.UnimplementedSnifferServer

	describe func(*protocol.Description) error
	session  func(stream) error // replaces the functions below
	begin    func(stream, *protocol.Begin) error
	sniff    func(stream, *protocol.Question) error // sends the answer, or none
	broker   func(grpc.ServerStream)                // is go-plugin's broker of further connections
}

// serve serves version 1 of the protocol until the host has ended.
func (b bad) serve() {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	b.serveVersion(protocol.Version)
}

func (b bad) serveVersion(version int) {
	hcplugin.Serve(&hcplugin.ServeConfig{
		HandshakeConfig:  hcplugin.HandshakeConfig{MagicCookieKey: protocol.CookieKey, MagicCookieValue: protocol.CookieValue},
		VersionedPlugins: map[int]hcplugin.PluginSet{version: {protocol.Service: &b}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			if b.broker != nil {
				opts = append(opts, grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
					if info.FullMethod != "/plugin.GRPCBroker/StartStream" {
						return handle(srv, s)
					}
					b.broker(s)
					return nil
				}))
			}
			return grpc.NewServer(append(opts, grpc.MaxSendMsgSize(1<<30), grpc.MaxRecvMsgSize(1<<30))...)
		},
		Logger: hclog.NewNullLogger(),
	})
}

// GRPCServer is called by go-plugin.
func (b *bad) GRPCServer(_ *hcplugin.GRPCBroker, g *grpc.Server) error {
	protocol.RegisterSnifferServer(g, b)
	return nil
}

// GRPCClient is not called.
func (b *bad) GRPCClient(context.Context, *hcplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.ErrUnsupported
}

// Describe implements [protocol.SnifferServer].
func (b *bad) Describe(context.Context, *protocol.DescribeRequest) (*protocol.Description, error) {
	d := &protocol.Description{Name: "hostile", Version: "0", Before: "sigtramp", Needs: &protocol.Needs{Stack: 64}}
	if b.describe == nil {
		return d, nil
	}
	return d, b.describe(d)
}

// Session implements [protocol.SnifferServer].
func (b *bad) Session(s stream) error {
	if b.session != nil {
		return b.session(s)
	}
	for {
		m, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch m := m.Message.(type) {
		case *protocol.FromHost_Begin:
			if b.begin != nil {
				err = b.begin(s, m.Begin)
			} else {
				err = ready(s, &protocol.Ready{})
			}
		case *protocol.FromHost_Question:
			if b.sniff != nil {
				err = b.sniff(s, m.Question)
			} else {
				err = answer(s, &protocol.Answer{Number: m.Question.Number, Declines: "it declines all"})
			}
		}
		if errors.Is(err, errEnd) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// errEnd ends a session without an error.
var errEnd = errors.New("the end")

func ready(s stream, r *protocol.Ready) error {
	return s.Send(&protocol.FromPlugin{Message: &protocol.FromPlugin_Ready{Ready: r}})
}

func answer(s stream, a *protocol.Answer) error {
	return s.Send(&protocol.FromPlugin{Message: &protocol.FromPlugin_Answer{Answer: a}})
}

// read asks for memory and waits for the answer.
func read(s stream, ranges ...*protocol.Range) error {
	err := s.Send(&protocol.FromPlugin{Message: &protocol.FromPlugin_Read{Read: &protocol.Read{Ranges: ranges}}})
	if err == nil {
		_, err = s.Recv()
	}
	return err
}
