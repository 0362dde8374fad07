package pluginhost

import (
	"context"
	"time"

	"github.com/sfwalk/sfwalk/internal/command/hosts"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/plugincheck"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/sniffer/external"
)

// Host is the [hosts.Plugins] that starts programs.
type Host struct{}

var _ hosts.Plugins = Host{}

// Find implements [hosts.Plugins].
func (Host) Find(dirs ...string) (list []hosts.Program, warnings []error) {
	found, warnings := external.Find(dirs...)
	for _, f := range found {
		list = append(list, hosts.Program{Path: f.Path, SHA256: f.SHA256, Guard: true})
	}
	return list, warnings
}

// patience bounds the time for all answers of one plug-in together.
const patience = 10 * time.Second

// Start implements [hosts.Plugins].
func (Host) Start(ctx context.Context, o hosts.StartOptions) (hosts.Plugin, error) {
	options := external.Options{Path: o.Path, SHA256: o.SHA256, Guard: o.Guard, Host: o.Host, Stderr: o.Stderr, Total: patience}
	if o.Trace != nil {
		options.Trace = func(x external.Exchange) { o.Trace(exchange(&x)) }
	}
	p, err := external.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	return plugin{p}, nil
}

// Check implements [hosts.Plugins].
func (Host) Check(ctx context.Context, p hosts.Program, host string, snapshots []string) (hosts.Report, error) {
	return plugincheck.Run(ctx, p.Path, plugincheck.Options{Snapshots: snapshots, SHA256: p.SHA256, Host: host})
}

type plugin struct{ *external.Plugin }

func (p plugin) About() hosts.About {
	d := &p.Description
	a := hosts.About{
		Name: d.Name, Version: d.Version, Protocol: p.Protocol, Architectures: d.Architectures,
		Before: d.Before, Started: p.Started, Unwinds: d.Claims == nil || d.Claims.OutsideModules || len(d.Claims.Modules) > 0,
	}
	if d.Decorates != nil {
		a.Decorates = d.Decorates.Language
	}
	return a
}

func (p plugin) Decorator(of hosts.Process) language.Decorator {
	if d := p.Plugin.Decorator(external.Target(of)); d != nil {
		return d
	}
	return nil
}

func (p plugin) Sniffer(of hosts.Process) hosts.Sniffer {
	return sniffer{p.Plugin.Sniffer(external.Target(of))}
}

type sniffer struct{ *external.Sniffer }

func (s sniffer) Insert(t *frame.Table) { external.Insert(t, s.Sniffer) }

func (s sniffer) Symbol(f *frame.Frame) (hosts.Symbol, bool) {
	x, own, ok := s.FrameSymbol(f)
	return hosts.Symbol{FrameOnly: own, Range: hosts.Range{Lo: x.Start, Hi: x.Hi}, Function: x.Function, File: x.File, Line: x.Line}, ok
}

func (s sniffer) Stats() hosts.Stats { return hosts.Stats(s.Sniffer.Stats()) }
