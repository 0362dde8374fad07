//go:build !unix

package command

import (
	"errors"
	"os"
	"os/exec"
)

// become runs another program, and returns its exit status as an error.
func become(path string, argv, env []string) error {
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) || err == nil {
		return exitStatus{code: cmd.ProcessState.ExitCode()}
	}
	return err
}
