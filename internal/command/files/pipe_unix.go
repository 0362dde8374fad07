//go:build unix

package files

import (
	"errors"
	"os/signal"
	"syscall"
)

// OutliveReader has sfwalk go on when nobody reads its output any more: a file is still to be
// written.
func OutliveReader() { signal.Ignore(syscall.SIGPIPE) }

// ReaderGone reports whether err says that nobody reads the output any more.
func ReaderGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
