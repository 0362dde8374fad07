//go:build !linux || !(amd64 || arm64)

package dlvhost

import (
	"context"
	"fmt"
	"runtime"

	"github.com/sfwalk/sfwalk/internal/command"
)

// Server is the [command.DelveServer] of systems that Delve does not run on: it returns an error.
type Server struct{}

var _ command.DelveServer = Server{}

// Serve implements [command.DelveServer].
func (Server) Serve(context.Context, command.DelveOptions) error {
	return fmt.Errorf("Delve with sfwalk's stacks runs on Linux, on amd64 and arm64, not on %s/%s", runtime.GOOS, runtime.GOARCH)
}
