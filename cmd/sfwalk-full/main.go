// Command sfwalk-full is sfwalk with what it takes to run plug-ins and to serve Delve's
// clients. sfwalk becomes it where it has to; to call it by hand is the same.
package main

import (
	"os"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/command/dlvhost"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
)

func main() { os.Exit(command.Main(os.Args[1:], pluginhost.Host{}, dlvhost.Server{})) }
