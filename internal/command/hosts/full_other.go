//go:build !unix

package hosts

import (
	"errors"
	"os"
	"os/exec"

	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// become runs another program, and returns its exit status as an error.
func become(path string, argv, env []string) error {
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) || err == nil {
		return exit.Status{Code: cmd.ProcessState.ExitCode()}
	}
	return err
}
