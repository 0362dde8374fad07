package command_test

import (
	"context"
	"net"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/command/dlvhost"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/pprofhost"
	"github.com/sfwalk/sfwalk/internal/command/screenhost"
)

func init() {
	command.SetHosts(command.Hosts{Plugins: pluginhost.Host{}, Delve: briefly{dlvhost.Server{}}, Pages: pprofhost.Server{}, Terminal: screenhost.Terminal{}})
}

// briefly is a Delve whose server ends as soon as clients can connect, as by Ctrl-C.
type briefly struct{ command.DelveServer }

func (b briefly) Serve(ctx context.Context, o command.DelveOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listening := o.Listening
	o.Listening = func(at net.Addr) {
		listening(at)
		cancel()
	}
	return b.DelveServer.Serve(ctx, o)
}
