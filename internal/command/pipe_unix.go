//go:build unix

package command

import (
	"errors"
	"os/signal"
	"syscall"
)

// outliveReader has sfwalk go on when nobody reads its output any more: a file is still to be written.
func outliveReader() { signal.Ignore(syscall.SIGPIPE) }

// readerGone reports whether err says that nobody reads the output any more.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
