// Command sfwalk-full is sfwalk that can run plug-ins and serve Delve's clients. sfwalk becomes
// sfwalk-full when it needs to; calling it by hand does the same.
package main

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/command/dlvhost"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/pprofhost"
)

func main() {
	os.Exit(command.Main(os.Args[1:], pluginhost.Host{}, dlvhost.Server{}, pprofhost.Server{}))
}
