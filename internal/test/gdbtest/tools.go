//go:build linux

package gdbtest

import (
	"bytes"
	"os/exec"
	"strings"
)

// command runs a tool and returns what it wrote on standard output and on
// standard error.
func command(cmd *exec.Cmd) (stdout, stderr string, err error) {
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	err = cmd.Run()
	return out.String(), strings.TrimSpace(msg.String()), err
}
