// Package whole gives tests of a verb the whole of sfwalk-full: commands that run in the test's
// process, and, under other names of the test's binary, the programs themselves and plug-ins.
//
// A room's tests have it by a TestMain in an external test package, which calls [Main]: no room of
// a verb may import the room that assembles all of them.
package whole

import (
	"context"
	"net"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/command/dlv"
	"github.com/sfwalk/sfwalk/internal/command/dlvhost"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/pprofhost"
	"github.com/sfwalk/sfwalk/internal/command/screenhost"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
)

// hosts are what the commands in a test's process have.
var hosts = command.Hosts{Plugins: pluginhost.Host{}, Delve: briefly{dlvhost.Server{}}, Pages: pprofhost.Server{}, Terminal: screenhost.Terminal{}}

func init() {
	commandtest.New = func(args []string) *cobra.Command { return command.New(hosts, args) }
}

// briefly is a Delve whose server ends as soon as clients can connect, as by Ctrl-C.
type briefly struct{ dlv.Server }

func (b briefly) Serve(ctx context.Context, o dlv.Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listening := o.Listening
	o.Listening = func(at net.Addr) {
		listening(at)
		cancel()
	}
	return b.Server.Serve(ctx, o)
}
