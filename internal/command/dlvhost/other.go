//go:build !linux || !(amd64 || arm64)

package dlvhost

import (
	"context"
	"fmt"
	"runtime"

	"github.com/sfwalk/sfwalk/internal/command/dlv"
)

// Server is the [dlv.Server] of systems that Delve does not run on: it returns an error.
type Server struct{}

var _ dlv.Server = Server{}

// Serve implements [dlv.Server].
func (Server) Serve(context.Context, dlv.Options) error {
	return fmt.Errorf("Delve with sfwalk's stacks runs on Linux, on amd64 and arm64, not on %s/%s", runtime.GOOS, runtime.GOARCH)
}
