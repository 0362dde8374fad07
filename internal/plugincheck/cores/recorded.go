// Package cores has a core file for each architecture, as a process to walk. Functions of its
// program and machine code outside of files call each other in turn (processes/README.md), and no
// sniffer of this project can walk its whole stack alone.
package cores

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sfwalk/sfwalk/target/core"
)

//go:embed processes/jit-*
var processes embed.FS

// Architectures lists the architectures of the processes, by GOARCH's names.
func Architectures() []string { return []string{"amd64", "arm64", "s390x"} }

// Process is a dead process.
type Process struct {
	*core.Target
	dir string // of its files
}

// Open opens the process of an architecture. The caller closes it.
func Open(architecture string) (*Process, error) {
	dir, err := os.MkdirTemp("", "sfwalk-recorded-")
	if err != nil {
		return nil, fmt.Errorf("recorded process: %w", err)
	}
	p := &Process{dir: dir}
	program := "jit-" + architecture
	for _, name := range []string{program, program + ".core.xz"} {
		data, err := processes.ReadFile("processes/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("recorded process of %s: %w", architecture, err), os.RemoveAll(dir))
		}
	}
	p.Target, err = core.Open(filepath.Join(dir, program+".core.xz"), core.Options{Exe: filepath.Join(dir, program)})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("recorded process of %s: %w", architecture, err), os.RemoveAll(dir))
	}
	return p, nil
}

// Close closes the target and removes its files.
func (p *Process) Close() error { return errors.Join(p.Target.Close(), os.RemoveAll(p.dir)) }
