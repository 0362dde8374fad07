package sniffers

import (
	hexadecimal "encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/plugindir"
)

// PluginFlags are the flags that choose the plug-ins.
type PluginFlags struct {
	host  hosts.Plugins
	paths []string
	sums  []string
	none  bool     // leave out the plug-ins in the directories
	found []string // the paths that a name without a folder has led to

	// Processes are the processes whose stacks are to be printed, if they are known. Where one
	// needs it, the plug-in beside sfwalk is asked.
	Processes []int
}

// Add adds the flags to a command.
func (p *PluginFlags) Add(cmd *cobra.Command, host hosts.Plugins) {
	p.host = host
	f := cmd.Flags()
	cmdline.Texts(f, &p.paths, "plugin", "also ask this `program`, a plug-in (see 'sfwalk plugin'), by its path; or by its name, if it lies beside sfwalk or in a directory of plug-ins; repeatable")
	cmd.RegisterFlagCompletionFunc("plugin", CompletePlugin)
	cmdline.Texts(f, &p.sums, "plugin-sha256", "the `checksum` that the program of --plugin must have; one for each --plugin, in the same order")
	f.BoolVar(&p.none, "no-plugins", false, "do not ask the plug-ins in the directories")
}

// Check finds mistakes in the flags before a plug-in is started.
func (p *PluginFlags) Check() error {
	for i, path := range p.paths {
		bare := filepath.Base(path) == path
		if bare {
			if found := plugindir.Named(path, plugindir.Dirs()...); found != "" {
				p.paths[i], path, bare = found, found, false
				p.found = append(p.found, found)
			}
		}
		if err := CheckProgram(path); err != nil {
			if bare && errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%w; nor is there a plug-in of this name beside sfwalk or in %s", err, strings.Join(plugindir.Dirs(), ", "))
			}
			return exit.Misuse(fmt.Errorf("--plugin %w", err))
		}
	}
	if n := len(p.sums); n > 0 && n != len(p.paths) {
		return exit.Misuse(fmt.Errorf("--plugin-sha256 is there %d times, --plugin %d times: want a checksum for each", n, len(p.paths)))
	}
	for _, sum := range p.sums {
		if err := checkSum(sum); err != nil {
			return exit.Misuse(err)
		}
	}
	return nil
}

// CheckProgram says why a file cannot be a plug-in.
func CheckProgram(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, exit.WithoutName(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a program (%v)", path, info.Mode().Type())
	case info.Mode()&0o111 == 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s: it cannot be executed: chmod +x %s", path, path)
	}
	return nil
}

func checkSum(sum string) error {
	if raw, err := hexadecimal.DecodeString(sum); err != nil || len(raw) != 32 {
		return fmt.Errorf("--plugin-sha256 %s: want 64 hexadecimal digits, as sha256sum prints them", sum)
	}
	return nil
}

// named returns the programs of --plugin.
func (p *PluginFlags) named() (list []hosts.Program) {
	for i, path := range p.paths {
		program := hosts.Program{Path: path}
		if len(p.sums) > 0 {
			program.SHA256 = p.sums[i]
		}
		list = append(list, program)
	}
	return list
}

// Dirs returns the directories whose plug-ins are asked.
func (p *PluginFlags) Dirs() []string {
	if p.none {
		return nil
	}
	return plugindir.Dirs()
}
