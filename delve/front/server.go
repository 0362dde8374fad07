//go:build linux && (amd64 || arm64)

package front

import (
	"errors"

	_ "github.com/go-delve/delve/pkg/proc/native"
	"github.com/go-delve/delve/service"
	_ "github.com/go-delve/delve/service/dap"
	"github.com/go-delve/delve/service/debugger"
	_ "github.com/go-delve/delve/service/rpc2"
	_ "github.com/google/go-dap"
)

// Serve serves clients that connect to config.Listener until the last session is over,
// as config.AcceptMulti says, or until config.DisconnectChan is closed. It closes the listener.
func Serve(config *service.Config, dbg *debugger.Debugger) error { return errors.ErrUnsupported }
