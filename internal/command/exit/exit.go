package exit

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	elfimage "github.com/sfwalk/sfwalk/format/elf"

	"github.com/spf13/cobra"
)

// Exit codes, as `sfwalk help` documents them.
const (
	Whole     = 0 // all stacks are whole
	Error     = 1
	BadUsage  = 2
	SomeEarly = 3 // some stack ended early
)

// ErrEarly says that everything was printed and some stack ended early.
var ErrEarly = errors.New("some stack ended early")

// ErrInterrupted says that the user has interrupted the command.
var ErrInterrupted = errors.New("interrupted")

// Status is the error of a command that has exit codes of its own. If err is nil,
// everything was printed.
type Status struct {
	Code int
	Err  error
}

// Error implements error.
func (e Status) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error that is printed.
func (e Status) Unwrap() error { return e.Err }

// AtOnce has the first signal end a command that reads files alone: it has nothing to tidy up.
func AtOnce(*cobra.Command, []string) { signal.Reset(os.Interrupt, syscall.SIGTERM) }

// Exit codes of `sfwalk sframe verify`: as cmp and diff have them.
const (
	Disagree = 1
	Trouble  = 2
)

// WithoutName returns err without the file's name, which the commands put before every message
// about a file.
func WithoutName(err error) error {
	var path *fs.PathError
	var format *elf.FormatError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.Is(err, elfimage.ErrNotELF), errors.As(err, &format) && strings.HasPrefix(format.Error(), "bad magic number"):
		return elfimage.ErrNotELF
	}
	return err
}

// With is the error of a command that ends with an exit code of its own; err is printed unless
// it is nil.
func With(code int, err error) error { return Status{code, err} }
