package whole

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command"
	"github.com/sfwalk/sfwalk/internal/command/dlvhost"
	"github.com/sfwalk/sfwalk/internal/command/pluginhost"
	"github.com/sfwalk/sfwalk/internal/command/pprofhost"
	"github.com/sfwalk/sfwalk/internal/command/screenhost"
	"github.com/sfwalk/sfwalk/internal/test/plugintest"
	"github.com/sfwalk/sfwalk/plugin"
	"github.com/sfwalk/sfwalk/trad"
)

// Main runs the tests of a room, or, as the test binary has many names, does what its name says.
func Main(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "measure":
		measure()
	case "sfwalk":
		os.Exit(command.Main(os.Args[1:], command.Hosts{}))
	case "sfwalk-full":
		os.Exit(command.Main(os.Args[1:], command.Hosts{Plugins: pluginhost.Host{}, Delve: dlvhost.Server{}, Pages: pprofhost.Server{}, Terminal: screenhost.Terminal{}}))
	case "sniffer-interpreter":
		plugin.Serve(interpreter{})
	case "sniffer-environ":
		for _, x := range os.Environ() {
			fmt.Fprintln(os.Stderr, "environ "+x)
		}
		plugin.Serve(interpreter{})
	case "sniffer-escapes":
		fmt.Fprint(os.Stderr, "\x1b[2J\u009b31m\r\nsfwalk: warning: fake\xff\n")
		plugin.Serve(interpreter{})
	case "sniffer-switch":
		plugin.Serve(interpreter{flags: trad.OtherStack})
	}
	plugintest.Main()
	// The user that runs the tests may have plug-ins.
	os.Setenv("XDG_CONFIG_HOME", os.DevNull)
	os.Unsetenv("SFWALK_PLUGIN_PATH")
	debug.SetGCPercent(400) // each command in this process leaves much garbage: a third of the time went into its collection
	os.Exit(m.Run())
}

// measure runs a command with its arguments, and writes the most memory that it had, in KiB, to
// file 3. The kernel counts the memory of a new process from its parent's: this process has less
// than one that has run tests.
func measure() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Run()
	fmt.Fprint(os.NewFile(3, "peak"), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	os.Exit(cmd.ProcessState.ExitCode())
}

// interpreter unwinds the frames of testdata/progs/recurse.c, built with frame pointers, as if it
// were an interpreter: each frame has a name of its own.
type interpreter struct{ flags trad.Flags }

func (i interpreter) Describe() plugin.Description {
	return plugin.Description{
		Name: "interpreter", Version: "2", Before: "sframe", Architectures: []string{"amd64"},
		Claims: &plugin.Claims{Modules: []string{"recurse*"}},
	}
}

func (i interpreter) Begin(*plugin.Target) (plugin.Session, error) {
	return plugin.SessionFunc(func(q *plugin.Query) plugin.Answer {
		f, ok, err := q.Target.SymbolAt(q.AddressInBlock)
		if err != nil || !ok || !strings.Contains(" even odd ", " "+f.Function+" ") || q.Innermost() {
			a := plugin.Decline("not interpreted")
			return a
		}
		row := trad.Row{
			Lo: q.AddressInBlock, Len: 1, Flags: trad.Once | i.flags,
			CFA: trad.Rule{Kind: trad.InReg, Reg: q.Target.FP, Off: 16},
			RA:  trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Saved, Off: -16},
		}
		a := plugin.Claim(row)
		a.Name = &plugin.Symbol{Range: f.Range, Function: fmt.Sprintf("script%d", q.Level), File: "s.x", Line: 100 + q.Level}
		return a
	}), nil
}
