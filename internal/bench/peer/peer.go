//go:build linux

// Package peer drives programs that time themselves: they read commands, a letter each, and answer
// with a line. So the programs that are compared can take turns.
package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/bench/child"
)

// A Peer is a running program.
type Peer struct {
	In  io.WriteCloser
	Out *bufio.Reader

	cmd  *exec.Cmd
	pipe io.Closer // under Out
}

// Start starts a program.
func Start(program string, args ...string) (*Peer, error) {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &Peer{in, bufio.NewReaderSize(out, 1<<20), cmd, out}, child.Start(cmd)
}

// Stop ends the program, and drops its last output. The error says how the program has ended.
func (p *Peer) Stop() error {
	p.In.Close()
	p.pipe.Close()
	return p.cmd.Wait()
}

// Ask gives a command and returns the line of the answer.
func (p *Peer) Ask(command byte) (string, error) {
	if _, err := p.In.Write([]byte{command}); err != nil {
		return "", err
	}
	line, err := p.Out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: no answer to %q: %w", filepath.Base(p.cmd.Path), command, err)
	}
	return strings.TrimSpace(line), nil
}

// Time gives a command that is answered with a number.
func (p *Peer) Time(command byte) (float64, error) {
	line, err := p.Ask(command)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(line, 64)
}
