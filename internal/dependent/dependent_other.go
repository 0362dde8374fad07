//go:build !unix

package dependent

import (
	"os"
	"os/exec"
)

// Start starts a process. It ends with the host when its standard input does.
func Start(cmd *exec.Cmd) error { return cmd.Start() }

// Await waits for a process to end.
func Await(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}
