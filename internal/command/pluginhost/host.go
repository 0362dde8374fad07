package pluginhost

import (
	"context"
	"time"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/sniffer/external"
	"github.com/sfwalk/sfwalk/sniffer/external/check"
)

// Host is the [command.PluginHost] that starts programs.
type Host struct{}

var _ command.PluginHost = Host{}

// Find implements [command.PluginHost].
func (Host) Find(dirs ...string) (list []command.Program, warnings []error) {
	found, warnings := external.Find(dirs...)
	for _, f := range found {
		list = append(list, command.Program{Path: f.Path, SHA256: f.SHA256, Guard: true})
	}
	return list, warnings
}

// patience bounds the time for all answers of one plug-in together.
const patience = 10 * time.Second

// Start implements [command.PluginHost].
func (Host) Start(ctx context.Context, o command.StartOptions) (command.Plugin, error) {
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

// Check implements [command.PluginHost].
func (Host) Check(ctx context.Context, p command.Program, host string, snapshots []string) (command.Report, error) {
	return check.Run(ctx, p.Path, check.Options{Snapshots: snapshots, SHA256: p.SHA256, Host: host})
}

type plugin struct{ *external.Plugin }

func (p plugin) About() command.About {
	d := &p.Description
	return command.About{
		Name: d.Name, Version: d.Version, Protocol: p.Protocol, Architectures: d.Architectures,
		Before: d.Before, Started: p.Started,
	}
}

func (p plugin) Sniffer(of command.Process) command.Sniffer {
	return sniffer{p.Plugin.Sniffer(external.Target(of))}
}

type sniffer struct{ *external.Sniffer }

func (s sniffer) Insert(t *frame.Table) { external.Insert(t, s.Sniffer) }

func (s sniffer) Symbol(f *frame.Frame) (command.Symbol, bool) {
	x, own, ok := s.FrameSymbol(f)
	return command.Symbol{FrameOnly: own, Range: command.Range{Lo: x.Start, Hi: x.Hi}, Function: x.Function, File: x.File, Line: x.Line}, ok
}

func (s sniffer) Stats() command.Stats { return command.Stats(s.Sniffer.Stats()) }
