package hosts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/trust"
)

// full is the program that runs plug-ins, embeds Delve, asks servers for symbols and draws top's
// screen and the pages of --http; getFull installs it.
const (
	full    = "sfwalk-full"
	getFull = "go install github.com/sfwalk/sfwalk/cmd/sfwalk-full@latest, or in a clone go install ./cmd/..."
)

// Becoming is a variable of the environment with the path of the program that sfwalk becomes. If
// that program is no sfwalk-full, it finds the variable, and does not become itself for ever.
const Becoming = "SFWALK_BECOMES"

// ErrNoFull says that sfwalk-full is needed, and cannot be run.
var ErrNoFull = errors.New("plug-ins, Delve, servers of symbols, top and --http need " + full)

// BecomeFull makes this process sfwalk-full, with the same arguments. If it returns, the error is
// the exit status of a sfwalk-full that has run, or wraps [ErrNoFull].
func BecomeFull() error {
	if path := os.Getenv(Becoming); path != "" {
		return fmt.Errorf("%w, and %s is another program by that name: %s", ErrNoFull, path, getFull)
	}
	path, err := FindFull()
	if err != nil {
		return err
	}
	err = become(path, append([]string{path}, os.Args[1:]...), append(os.Environ(), Becoming+"="+path))
	if status := (exit.Status{}); errors.As(err, &status) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrNoFull, path, err)
}

// FindFull looks for sfwalk-full beside this program, then in PATH.
func FindFull() (string, error) {
	name := full
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	beside := filepath.Join(filepath.Dir(self), name)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		return beside, nil
	}
	if path, err := exec.LookPath(full); err == nil {
		f, err := trust.Open(path)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoFull, err)
		}
		defer f.Close()
		if f.Others != nil { // the user has not named this file
			return "", fmt.Errorf("%w; %s is left out: %w", ErrNoFull, path, f.Others)
		}
		return f.Path, nil
	}
	return "", fmt.Errorf("%w, which is neither beside %s nor in PATH: %s", ErrNoFull, self, getFull)
}
