//go:build linux

package plugin

import (
	"context"
	"errors"
	"os/exec"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"
	hcplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/sfwalk/sfwalk/internal/bench/build"
	"github.com/sfwalk/sfwalk/internal/bench/report"
	"github.com/sfwalk/sfwalk/plugin/protocol"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// versions returns the versions of the modules that the protocol is built on.
func versions() (list []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "github.com/hashicorp/go-plugin", "google.golang.org/grpc":
			list = append(list, m.Path+" "+m.Version)
		}
	}
	return list
}

// client is a plug-in that go-plugin's own client has started: the host cannot choose to go without
// certificates.
type client struct {
	*hcplugin.Client
	protocol.SnifferClient
}

func newClient(path string, mtls bool) (*client, error) {
	c := hcplugin.NewClient(&hcplugin.ClientConfig{
		HandshakeConfig:  hcplugin.HandshakeConfig{MagicCookieKey: protocol.CookieKey, MagicCookieValue: protocol.CookieValue},
		VersionedPlugins: map[int]hcplugin.PluginSet{protocol.Version: {protocol.Service: service{}}},
		AllowedProtocols: []hcplugin.Protocol{hcplugin.ProtocolGRPC},
		AutoMTLS:         mtls,
		Cmd:              exec.Command(path),
		Logger:           hclog.NewNullLogger(),
	})
	conn, err := c.Client()
	if err != nil {
		c.Kill()
		return nil, err
	}
	raw, err := conn.Dispense(protocol.Service)
	if err != nil {
		c.Kill()
		return nil, err
	}
	return &client{c, raw.(protocol.SnifferClient)}, nil
}

type service struct {
	hcplugin.NetRPCUnsupportedPlugin
}

func (service) GRPCServer(*hcplugin.GRPCBroker, *grpc.Server) error { return errors.ErrUnsupported }
func (service) GRPCClient(_ context.Context, _ *hcplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return protocol.NewSnifferClient(conn), nil
}

// The names of hosts.
const (
	ourHost     = "sfwalk's host, whose certificate is on a quicker curve"
	withMTLS    = "go-plugin's client, with AutoMTLS"
	withoutMTLS = "go-plugin's client, without"
)

// starts measures the time until a plug-in has described itself.
func starts(ctx context.Context, p *programs, _ build.Dir, o Options, s *report.Section) error {
	path := p.plugin[plain]
	own := func(mtls bool) func() (func(), error) {
		return func() (end func(), err error) {
			c, err := newClient(path, mtls)
			if err != nil {
				return nil, err
			}
			_, err = c.Describe(ctx, &protocol.DescribeRequest{})
			return c.Kill, err
		}
	}
	list := []*struct {
		name    string
		start   func() (end func(), err error)
		samples []time.Duration
	}{
		{name: ourHost, start: func() (func(), error) {
			p, err := external.Start(ctx, external.Options{Path: path})
			return func() { p.Close() }, err
		}},
		{name: withMTLS, start: own(true)},
		{name: withoutMTLS, start: own(false)},
	}
	for range o.Rounds {
		for _, x := range list {
			begin := time.Now()
			end, err := x.start()
			took := time.Since(begin)
			if err != nil {
				return err
			}
			end()
			x.samples = append(x.samples, took)
		}
	}
	t := report.Table{Caption: "**Start**, until the plug-in has described itself", Head: []string{"", "time"}}
	for _, x := range list {
		t.Add(x.name, cell(x.samples))
	}
	s.Tables = append(s.Tables, t)
	return nil
}
