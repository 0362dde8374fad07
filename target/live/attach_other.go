//go:build !linux

package live

import "context"

// Attach would copy what unwinding needs of the process pid. On this system it cannot: the error
// wraps [ErrUnsupported].
func Attach(context.Context, int, Options) (*Target, error) {
	return nil, errNoHost
}
