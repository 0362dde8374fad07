package command_test

import (
	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
)

func init() { command.SetHost(pluginhost.Host{}) }
