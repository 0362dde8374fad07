package pluginhost

import (
	"github.com/sfwalk/sfwalk/internal/command"
	_ "github.com/sfwalk/sfwalk/sniffer/external"
)

// Host is a [command.Host].
type Host struct{}

var _ command.Host = Host{}
