//go:build !linux || !(amd64 || arm64)

package dlvhost

import (
	"context"
	"fmt"
	"runtime"

	"github.com/sfwalk/sfwalk/internal/command"
)

// Delve is the [command.Delve] that there is not.
type Delve struct{}

var _ command.Delve = Delve{}

// Serve implements [command.Delve].
func (Delve) Serve(context.Context, command.DelveOptions) error {
	return fmt.Errorf("Delve with sfwalk's stacks runs on Linux, on amd64 and arm64, not on %s/%s", runtime.GOOS, runtime.GOARCH)
}
