//go:build !unix

package external

import (
	"os"
	"os/exec"
)

// tcp says whether plug-ins may serve at a TCP address of this machine: go-plugin has them
// do so on Windows.
const tcp = true

// start starts a process. It ends with the host when its standard input does.
func start(cmd *exec.Cmd) error { return cmd.Start() }

// await waits for a process to end.
func await(p *os.Process) *os.ProcessState {
	state, _ := p.Wait()
	return state
}
