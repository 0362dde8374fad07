// Command sfwalk-full is sfwalk that can run plug-ins and serve Delve's clients. sfwalk becomes
// sfwalk-full when it needs to; calling it by hand does the same.
package main

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/command/dlvhost"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/pprofhost"
	"github.com/sfwalk/sfwalk/internal/command/screenhost"
)

func main() {
	os.Exit(command.Main(os.Args[1:], command.Hosts{Plugins: pluginhost.Host{}, Delve: dlvhost.Server{}, Pages: pprofhost.Server{}, Terminal: screenhost.Terminal{}}))
}
