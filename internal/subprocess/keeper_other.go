//go:build !linux

package subprocess

import (
	"os"
	"os/exec"
	"sync"
)

// Keeper runs one command, and ends its process group.
type Keeper struct {
	Folder string // for the command's files: no other user can enter it, and it is removed at the end

	cmd    *exec.Cmd
	killed sync.Once
}

// New returns a keeper, which makes a folder in another.
func New(tmp string) (*Keeper, error) {
	folder, err := os.MkdirTemp(tmp, "sfw-")
	return &Keeper{Folder: folder}, err
}

// Start starts the command. It ends with the host when its standard input does.
func (k *Keeper) Start(c Command) error {
	k.cmd = &exec.Cmd{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: c.Files[0], Stdout: c.Files[1], Stderr: c.Files[2]}
	ownGroup(k.cmd)
	err := k.cmd.Start()
	if err != nil {
		k.cmd = nil
		os.RemoveAll(k.Folder)
	}
	return err
}

// PID is the command's, when it has been started.
func (k *Keeper) PID() int { return k.cmd.Process.Pid }

// Wait waits until the command has ended, ends what it has started, and removes the folder.
func (k *Keeper) Wait() Ended {
	state, _ := k.cmd.Process.Wait()
	killGroup(k.cmd)
	os.RemoveAll(k.Folder)
	if state == nil {
		return Ended{How: "how is not known"}
	}
	return Ended{state.String(), state.Success()}
}

// Gone waits until the folder is removed.
func (k *Keeper) Gone() {}

// Kill ends the command and has the folder removed.
func (k *Keeper) Kill() {
	k.killed.Do(func() {
		if k.cmd == nil {
			os.RemoveAll(k.Folder)
			return
		}
		k.cmd.Process.Kill()
	})
}
