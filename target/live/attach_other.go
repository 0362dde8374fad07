//go:build !(linux && (amd64 || arm64 || s390x))

package live

import (
	"context"
	"runtime"
)

// Attach takes a picture of the process pid. Here it cannot: the error wraps
// [ErrUnsupported].
func Attach(_ context.Context, _ int, _ Options) (*Target, error) {
	return nil, &refusal{ErrUnsupported,
		"attach: live processes can be read on linux/amd64, linux/arm64 and linux/s390x only, this is " + runtime.GOOS + "/" + runtime.GOARCH}
}
