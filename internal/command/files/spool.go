package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/holes"
)

// Spool returns the path of a file that can be read anywhere: path itself, or a copy of what comes
// through standard input ("-") or another pipe that is open already, such as the shell's
// <(command). A FIFO is not opened: that could wait for ever. The caller calls remove when the file
// is not needed any more.
func Spool(ctx context.Context, path string, stdin io.Reader) (file string, remove func(), err error) {
	in, name := stdin, "standard input"
	if path != "-" {
		info, err := os.Stat(path)
		if err != nil || info.Mode()&fs.ModeNamedPipe == 0 || path != "/dev/stdin" && !strings.HasPrefix(path, "/dev/fd/") && !strings.HasPrefix(path, "/proc/self/fd/") {
			return path, func() {}, nil
		}
		pipe, err := os.Open(path)
		if err != nil {
			return "", nil, err
		}
		defer pipe.Close()
		in, name = pipe, "pipe"
	} else if f, ok := stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return "", nil, exit.Misuse(errors.New("-: standard input is a terminal: write a file to it, for example coredumpctl dump | sfwalk core -"))
	}
	dir, err := os.MkdirTemp("", "sfwalk-") // for its owner alone: stacks hold secrets
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	file = filepath.Join(dir, name)
	if err := copyTo(ctx, file, in); err != nil {
		remove()
		return "", nil, fmt.Errorf("copy %s to %s: %w", name, dir, err)
	}
	return file, remove, nil
}

// renamed is an error about a copy, which is not there any more when it is read, with the name that
// the user gave.
type renamed struct {
	error
	copy, given string
}

// Error implements error.
func (r renamed) Error() string { return strings.ReplaceAll(r.error.Error(), r.copy, r.given) }

// Unwrap returns the error itself.
func (r renamed) Unwrap() error { return r.error }

// copyTo copies in to a new file, until ctx is done.
func copyTo(ctx context.Context, file string, in io.Reader) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	out := holes.NewWriter(f)
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(out, in)
		copied <- errors.Join(err, out.Close(), f.Close())
	}()
	select {
	case err := <-copied:
		return err
	case <-ctx.Done():
		return exit.ErrInterrupted
	}
}

// Rename returns an error about a copy with the name that the user gave for the file.
func Rename(err error, copy, given string) error { return renamed{err, copy, given} }
